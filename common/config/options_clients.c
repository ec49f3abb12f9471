/* Rows of the option table: where clients and operators connect, and who they are. */
#include "common/config/option_rows.h"

/* Rows read best with their fields side by side. */
/* clang-format off */

/* ---- listen */

static const struct tp_option certificate_rows[] = {
	{.key = "certificate", .type = TP_OPT_STRING, AT(struct tp_certificate_conf, certificate), .required = true,
	 .refuse = tp_refuse_file, .example = "/etc/turnpike/other.pem",
	 .help = "PEM file with the certificate chain, own certificate first."},
	{.key = "key", .type = TP_OPT_STRING, AT(struct tp_certificate_conf, key), .required = true,
	 .refuse = tp_refuse_file, .example = "/etc/turnpike/other.key",
	 .help = "PEM file with the private key of the certificate."},
};
static const struct tp_section certificate = {.name = "certificate",
					      ROWS(certificate_rows),
					      .size = sizeof(struct tp_certificate_conf),
					      .check = tp_check_certificate};

static const struct tp_option listener_tls_rows[] = {
	{.key = "certificate", .type = TP_OPT_STRING, AT(struct tp_listener_conf, tls.own.certificate),
	 .refuse = tp_refuse_file, .help = "PEM file with the certificate chain, own certificate first."},
	{.key = "key", .type = TP_OPT_STRING, AT(struct tp_listener_conf, tls.own.key), .refuse = tp_refuse_file,
	 .help = "PEM file with the private key of the certificate."},
	{.key = "client_ca", .type = TP_OPT_STRING, AT(struct tp_listener_conf, tls.client_ca), .refuse = tp_refuse_file,
	 .help = "PEM file with authorities: clients must present a certificate that one of them has signed, or get no "
		 "connection. Revocation lists in the file are followed: then the issuer of each client needs one. Empty: clients are "
		 "not asked for one."},
	{.key = "more", .type = TP_OPT_LIST, AT(struct tp_listener_conf, tls.more),
	 COUNTED(struct tp_listener_conf, tls.n_more), .inner = &certificate, RANGE(0, 256), .fallback = "[]",
	 .help = "Further certificates. The first one that names the server the client asks for is shown (exact names before "
		 "wildcards); where none does, or no name is asked for, the one above. Names are the alternative ones in the "
		 "certificate."},
};
static const struct tp_section listener_tls = {ROWS(listener_tls_rows), .check = tp_check_listener_tls};

static const char *const half_close_words[] = {"abort", "serve", NULL};

static const struct tp_option listener_rows[] = {
	{.key = "address", .type = TP_OPT_STRING, AT(struct tp_listener_conf, address), .required = true,
	 .example = "127.0.0.1:8080",
	 .help = "`127.0.0.1:8080`, `[::1]:8080` or `unix:/path`. Port 0 lets the kernel pick one."},
	{.key = "tls", SECTION(listener_tls), .help = "Serve HTTPS here; certificate and key are needed."},
	{.key = "client_half_close", .type = TP_OPT_CHOICE, AT(struct tp_listener_conf, client_half_close_serve),
	 .choices = half_close_words, .fallback = "abort",
	 .help = "What a client that closes its sending side after a whole request means: `abort` = it is gone, "
		 "cancel the turn; `serve` = answer it, and notice that it is gone when writing fails."},
};
const struct tp_section tp_config_listener = {.name = "listener",
					   ROWS(listener_rows),
					   .size = sizeof(struct tp_listener_conf),
					   .shorthand = "address",
					   .check = tp_check_listener,
					   .release = tp_release_listener};

/* ---- admin */

static const struct tp_option admin_listener_rows[] = {
	{.key = "address", .type = TP_OPT_STRING, AT(struct tp_listener_conf, address), .required = true,
	 .example = "127.0.0.1:9090", .help = "`unix:/path`, `127.0.0.1:9090` or `[::1]:9090`."},
};
static const struct tp_section admin_listener = {.name = "admin listener",
						 ROWS(admin_listener_rows),
						 .size = sizeof(struct tp_listener_conf),
						 .shorthand = "address",
						 .check = tp_check_listener,
						 .release = tp_release_listener};

static const struct tp_option admin_rows[] = {
	{.key = "listen", .type = TP_OPT_LIST, AT(struct tp_config, admin.listeners),
	 COUNTED(struct tp_config, admin.n_listeners), .inner = &admin_listener, .one_or_list = true, RANGE(0, 16),
	 .fallback = "[]", .example = "[ \"unix:/run/turnpike/admin.sock\", \"127.0.0.1:9090\" ]",
	 .help = "Where /metrics, /stats, /healthz, /readyz and the rest are served: addresses of their own, apart from "
		 "`listen`. A unix socket (mode 0660) may do everything; TCP only reads, unless there is a `token`."},
	{.key = "token", .type = TP_OPT_STRING, AT(struct tp_config, admin.token), .secret = true,
	 .example = "\"${ADMIN_TOKEN}\"", .refuse = tp_refuse_key,
	 .help = "`Authorization: Bearer TOKEN` lets a TCP client change things. Addresses that other machines can reach "
		 "need a token for everything."},
};
const struct tp_section tp_config_admin = {ROWS(admin_rows)};

/* ---- clients */

static const struct tp_option client_rows[] = {
	{.key = "name", .type = TP_OPT_STRING, AT(struct tp_client_conf, name), .required = true,
	 .example = "team-a", .refuse = tp_refuse_name, .help = "Who it is, for logs. Each name once."},
	{.key = "key", .type = TP_OPT_STRING, AT(struct tp_client_conf, key), .required = true, .secret = true,
	 .example = "\"${TEAM_A}\"", .refuse = tp_refuse_key,
	 .help = "What the client sends as its API key. It opens Turnpike only and is never passed on."},
};
const struct tp_section tp_config_client = {
	.name = "client", ROWS(client_rows), .size = sizeof(struct tp_client_conf), .check = tp_check_client};
