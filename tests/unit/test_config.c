/* Right files: what they amount to. */
#include <stdlib.h>
#include <unistd.h>

#include "common/config/config.h"
#include "common/config/option.h"
#include "common/config/show.h"
#include "tests/unit/parse.h"
#include "tests/unit/suite.h"

#define P "providers: {p: {url: \"http://h/v1\"}}\n"

static void check_statuses(const struct tp_status_set *set, const char *expected)
{
	struct tp_buf text = {0};
	for (int status = 0; status < 640; status++)
		if (tp_status_in(set, status))
			tp_buf_printf(&text, "%d ", status);
	ck_assert_str_eq(tp_buf_cstr(&text), expected);
	tp_buf_free(&text);
}

static void check_default_retry(const struct tp_retry_conf *r)
{
	ck_assert_uint_eq(r->deadline_ms, 120000);
	ck_assert_uint_eq(r->slow_attempt_ms, 15000);
	ck_assert(r->share_waits);
	ck_assert_uint_eq(r->floor_ms, 1500);
	ck_assert_uint_eq(r->ceiling_ms, 60000);
	ck_assert_uint_eq(r->reset_sends, 3);
	ck_assert_uint_eq(r->reset_base_ms, 150);
	ck_assert_uint_eq(r->reset_cap_ms, 1000);
	ck_assert_uint_eq(r->transient_sends, 3);
	ck_assert_uint_eq(r->transient_base_ms, 400);
	ck_assert_uint_eq(r->transient_cap_ms, 5000);
	check_statuses(&r->transient_statuses, "500 502 503 504 520 521 522 ");
	ck_assert_uint_eq(r->overload_sends, 4);
	ck_assert_uint_eq(r->overload_base_ms, 1500);
	ck_assert_uint_eq(r->overload_cap_ms, 60000);
	check_statuses(&r->overload_statuses, "429 529 ");
	ck_assert_int_eq(r->profile, TP_PROFILE_GUARDED);
	ck_assert_uint_eq(r->overload_429_sends, 4);
	ck_assert_uint_eq(r->ambiguous_replays, 0);
	ck_assert_uint_eq(r->heartbeat_after_ms, 0);
	ck_assert_uint_eq(r->heartbeat_every_ms, 10000);
	ck_assert_uint_eq(r->budget_sends, 4);
	ck_assert_uint_eq(r->budget_reserve, 1);
}

static void check_default_provider(const struct tp_provider_conf *p)
{
	ck_assert_int_eq(p->family, TP_PROVIDER_AUTO);
	ck_assert_uint_eq(p->n_keys, 0);
	ck_assert_int_eq(p->key_header, TP_KEY_AUTO);
	ck_assert_uint_eq(p->keepalive_idle_ms, 10000);
	ck_assert_uint_eq(p->keepalive_max, 64);
	ck_assert_uint_eq(p->connect_ms, 10000);
	ck_assert_uint_eq(p->first_byte_ms, 300000);
	ck_assert_uint_eq(p->idle_ms, 300000);
	ck_assert_uint_eq(p->token_ms, 0);
	ck_assert_ptr_null(p->tls.ca);
	ck_assert_ptr_null(p->tls.server_name);
	ck_assert(p->tls.verify);
	ck_assert_uint_eq(p->n_replay_safe, 2);
	ck_assert_str_eq(p->replay_safe[0], "/models");
	ck_assert_str_eq(p->replay_safe[1], "/messages/count_tokens");
	ck_assert_uint_eq(p->n_via, 1);
	ck_assert_ptr_null(p->egress[0].host);
	ck_assert(!p->upgrade_tunnel);
	ck_assert(!p->compression_pass);
	check_default_retry(&p->retry);
}

static void check_default_rest(const struct tp_config *c)
{
	ck_assert_uint_eq(c->budget.sends, 4);
	ck_assert_uint_eq(c->budget.reserve, 1);
	ck_assert_uint_eq(c->budget.ttl_ms, 600000);
	ck_assert_uint_eq(c->budget.rejoin_ms, 120000);
	ck_assert_uint_eq(c->budget.n_identify, 2);
	ck_assert_str_eq(c->budget.identify[0], "idempotency-key");
	ck_assert_str_eq(c->budget.identify[1], "x-codex-request-id");
	ck_assert_uint_eq(c->hold.body_bytes, 64 << 10);
	ck_assert_uint_eq(c->hold.total_bytes, 512 << 10);
	ck_assert_uint_eq(c->hold.time_ms, 10000);
	ck_assert_uint_eq(c->limits.header, 64 << 10);
	ck_assert_uint_eq(c->limits.body, 256 << 20);
	ck_assert_uint_eq(c->limits.replay_body, 64 << 20);
	ck_assert_uint_eq(c->limits.replay_total, 512 << 20);
	ck_assert_uint_eq(c->limits.connections, 0);
	ck_assert_uint_eq(c->limits.client_idle_ms, 75000);
	ck_assert_uint_eq(c->limits.client_header_ms, 30000);
	ck_assert_uint_eq(c->limits.client_body_ms, 60000);
	ck_assert_uint_eq(c->limits.slow_reader_ms, 60000);
	ck_assert_str_eq(c->state.name, "/turnpike");
	ck_assert_uint_eq(c->state.logical_requests, 65536);
	ck_assert_uint_eq(c->state.urls, 4096);
	ck_assert_uint_eq(c->blacklist.failures, 10);
	ck_assert_uint_eq(c->blacklist.window_ms, 300000);
	ck_assert_uint_eq(c->blacklist.duration_ms, 600000);
	ck_assert_ptr_null(c->providers[0].health_path);
	ck_assert_int_eq(c->log.level, TP_LOG_INFO);
	ck_assert_int_eq(c->log.format, TP_LOG_TEXT);
	ck_assert_str_eq(c->log.output, "stderr");
	ck_assert_uint_eq(c->drain_ms, 600000);
	ck_assert_ptr_null(c->pid_file);
}

/* Numbers of the contract, written out once more on purpose: a changed default must be seen here. */
START_TEST(has_the_defaults_of_the_contract)
{
	struct tp_config *c = parse(P);
	ck_assert_str_eq(c->file, "f");
	ck_assert_uint_ge(c->workers, 1);
	ck_assert_uint_le(c->workers, (unsigned)sysconf(_SC_NPROCESSORS_CONF));
	ck_assert_uint_eq(c->n_listeners, 1);
	ck_assert_str_eq(c->listeners[0].host, "127.0.0.1");
	ck_assert_uint_eq(c->listeners[0].port, 8080);
	ck_assert(!c->listeners[0].client_half_close_serve);
	ck_assert_uint_eq(c->n_clients + c->n_hosts + c->n_origins, 0);
	ck_assert(!c->allow_anonymous);
	ck_assert_uint_eq(c->n_providers, 1);
	ck_assert_str_eq(c->providers[0].name, "p");
	check_default_provider(&c->providers[0]);
	ck_assert_uint_eq(c->n_routes, 2);
	ck_assert_str_eq(c->routes[0].path, "/v1");
	ck_assert_str_eq(c->routes[1].path, "/");
	ck_assert_uint_eq(c->routes[0].provider + c->routes[1].provider, 0);
	check_default_retry(&c->retry);
	check_default_rest(c);
	tp_config_unref(c);
}
END_TEST

static const struct {
	const char *written, *base, *host, *authority, *path, *authorization;
	unsigned port;
	bool https;
} urls[] = {
	{"http://h", "http://h", "h", "h", "", NULL, 80, false},
	{"http://h/", "http://h", "h", "h", "", NULL, 80, false},
	{"https://API.Example.com/V1/", "https://api.example.com/V1", "api.example.com", "api.example.com",
	 "/V1", NULL, 443, true},
	{"HTTPS://h:443/a", "https://h/a", "h", "h", "/a", NULL, 443, true},
	{"http://h:443", "http://h:443", "h", "h:443", "", NULL, 443, false},
	{"https://h:8443/a/b", "https://h:8443/a/b", "h", "h:8443", "/a/b", NULL, 8443, true},
	{"http://[::1]:9/v1", "http://[::1]:9/v1", "::1", "[::1]:9", "/v1", NULL, 9, false},
	{"http://u:p@h/v1", "http://h/v1", "h", "h", "/v1", "Basic dTpw", 80, false},
	{"http://u%40x:p%3ass@h/v1", "http://h/v1", "h", "h", "/v1", "Basic dUB4OnA6c3M=", 80, false},
	{"http://token@h/v1", "http://h/v1", "h", "h", "/v1", "Basic dG9rZW46", 80, false},
	{"http://my_host-1:1", "http://my_host-1:1", "my_host-1", "my_host-1:1", "", NULL, 1, false},
};

START_TEST(takes_urls_apart)
{
	struct tp_buf yaml = {0};
	tp_buf_printf(&yaml, "providers: {p: {url: \"%s\"}}", urls[_i].written);
	struct tp_config *c = parse(tp_buf_cstr(&yaml));
	const struct tp_provider_conf *p = &c->providers[0];
	ck_assert_str_eq(p->url, urls[_i].written);
	ck_assert_str_eq(p->base, urls[_i].base);
	ck_assert_str_eq(p->host, urls[_i].host);
	ck_assert_str_eq(p->authority, urls[_i].authority);
	ck_assert_str_eq(p->path, urls[_i].path);
	ck_assert_pstr_eq(p->url_authorization, urls[_i].authorization);
	ck_assert_uint_eq(p->port, urls[_i].port);
	ck_assert_int_eq(p->https, urls[_i].https);
	tp_config_unref(c);
	tp_buf_free(&yaml);
}
END_TEST

static const struct {
	const char *written, *host, *address, *authorization;
	unsigned port;
} ways_out[] = {
	{"direct", NULL, "direct", NULL, 0},
	{"http://127.0.0.1:3128", "127.0.0.1", "127.0.0.1:3128", NULL, 3128},
	{"HTTP://Proxy.Example:80/", "proxy.example", "proxy.example:80", NULL, 80},
	{"http://[::1]:9", "::1", "[::1]:9", NULL, 9},
	{"http://u:p@h:1", "h", "h:1", "Basic dTpw", 1},
	{"http://u%40x:p%3ass@h:1", "h", "h:1", "Basic dUB4OnA6c3M=", 1},
};

START_TEST(takes_ways_out_apart)
{
	struct tp_buf yaml = {0};
	tp_buf_printf(&yaml, "providers: {p: {url: \"http://a\", via: [\"%s\", \"http://b:2\"]}}",
		      ways_out[_i].written);
	struct tp_config *c = parse(tp_buf_cstr(&yaml));
	ck_assert_uint_eq(c->providers[0].n_via, 2);
	const struct tp_egress_conf *e = c->providers[0].egress;
	ck_assert_pstr_eq(e->host, ways_out[_i].host);
	ck_assert_str_eq(e->address, ways_out[_i].address);
	ck_assert_pstr_eq(e->authorization, ways_out[_i].authorization);
	ck_assert_uint_eq(e->port, ways_out[_i].port);
	ck_assert_str_eq(e[1].address, "b:2");
	tp_config_unref(c);
	tp_buf_free(&yaml);
}
END_TEST

static const struct {
	const char *address, *host;
	unsigned port;
	bool is_unix;
} addresses[] = {
	{"127.0.0.1:0", "127.0.0.1", 0, false},
	{"127.1.2.3:65535", "127.1.2.3", 65535, false},
	{"localhost:80", "127.0.0.1", 80, false},
	{"[::1]:80", "::1", 80, false},
	{"[::ffff:127.0.0.1]:80", "::ffff:127.0.0.1", 80, false},
	{"unix:/run/a.sock", "/run/a.sock", 0, true},
};

START_TEST(takes_addresses_apart)
{
	/* As a text, a mapping and in a list: three ways to write the same. */
	static const char *const forms[] = {"listen: \"%s\"", "listen: {address: \"%s\"}", "listen: [\"%s\"]",
					    "listen: [{address: \"%s\"}]"};
	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		struct tp_buf yaml = {0};
		const char *hole = strchr(forms[i], '%');
		tp_buf_printf(&yaml, P "%.*s%s%s", (int)(hole - forms[i]), forms[i], addresses[_i].address,
			      hole + 2);
		struct tp_config *c = parse(tp_buf_cstr(&yaml));
		ck_assert_uint_eq(c->n_listeners, 1);
		ck_assert_str_eq(c->listeners[0].address, addresses[_i].address);
		ck_assert_str_eq(c->listeners[0].host, addresses[_i].host);
		ck_assert_uint_eq(c->listeners[0].port, addresses[_i].port);
		ck_assert_int_eq(c->listeners[0].is_unix, addresses[_i].is_unix);
		tp_config_unref(c);
		tp_buf_free(&yaml);
	}
}
END_TEST

/* Files that must be accepted, though they look close to wrong ones. */
static const char *const accepted[] = {
	"\xef\xbb\xbf" P,
	"%YAML 1.1\n---\n" P "...\n",
	P "retry:\nlog:\nlimits: {}\n",
	P "pid_file:\nlisten: [\"127.0.0.1:0\", \"127.0.0.1:0\"]\n",
	P "budget: {sends: 0, reserve: 0}\n",
	P "budget: {identify: []}\nretry: {transient: {statuses: []}}\n",
	P "listen: 0.0.0.0:80\nallow_anonymous: yes\n",
	P "listen: \"[::]:80\"\nclients: [{name: a, key: k}]\n",
	"providers: {p: {url: \"http://h\", tls: {ca: , server_name: , verify: true}, keys: []}}\n",
	"providers: {p: {url: \"https://h\", tls: {verify: \"off\"}}}\n",
	"providers: {p: {url: \"http://u:p@h\", keys: [k], key_header: x-api-key}}\n",
	"providers: {p: {url: \"http://u:p@h\", keys: [k], family: anthropic}}\n",
	"providers: {null: {url: \"http://h\"}}\nroutes: [{path: /, provider: \"null\"}]\n",
	"routes: [{path: /a, provider: p}, {path: /a/b, provider: q}]\n"
	"providers: {p: {url: \"http://h\"}, q: {url: \"http://h\"}}\n",
	P "workers: \"3\"\nbudget: {ttl: \"0\", rejoin: 0}\n",
	P
	"hosts: [Proxy.Example.com, \"[::1]\"]\norigins: [\"HTTP://localhost:3000\", vscode-webview://abc]\n",
};

START_TEST(accepts)
{
	tp_config_unref(parse(accepted[_i]));
}
END_TEST

START_TEST(lowers_names_and_drops_brackets)
{
	struct tp_config *c = parse(P "hosts: [Proxy.Example.com, \"[::1]\"]\norigins: [\"HTTP://A:3000\"]\n"
				      "budget: {identify: [X-My-Id]}\n");
	ck_assert_str_eq(c->hosts[0], "proxy.example.com");
	ck_assert_str_eq(c->hosts[1], "::1");
	ck_assert_str_eq(c->origins[0], "http://a:3000");
	ck_assert_str_eq(c->budget.identify[0], "x-my-id");
	tp_config_unref(c);
}
END_TEST

START_TEST(orders_routes_by_length)
{
	struct tp_config *c = parse("providers: {p: {url: \"http://h\"}, q: {url: \"http://h\"}}\n"
				    "routes:\n"
				    "  - {path: /, provider: p}\n"
				    "  - {path: /v1/models/, provider: q}\n"
				    "  - {path: /v1, provider: p}\n");
	static const char *const paths[] = {"/v1/models", "/v1", "/"};
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(c->routes[i].path, paths[i]);
	ck_assert_uint_eq(c->routes[0].provider, 1);
	ck_assert_uint_eq(c->routes[1].provider, 0);
	tp_config_unref(c);
}
END_TEST

START_TEST(merges_retry_into_providers)
{
	struct tp_config *c = parse("providers:\n"
				    "  p: {url: \"http://h\", retry: {overload: {sends: 2}, deadline: 5s}}\n"
				    "  q: {url: \"http://h\"}\n"
				    "routes: [{path: /, provider: p}, {path: /q, provider: q}]\n"
				    /* Behind the providers: the order of the file does not matter. */
				    "retry: {overload: {sends: 7, base: 1s}, deadline: 30s}\n");
	ck_assert_uint_eq(c->providers[0].retry.overload_sends, 2);
	ck_assert_uint_eq(c->providers[0].retry.overload_base_ms, 1000);
	ck_assert_uint_eq(c->providers[0].retry.deadline_ms, 5000);
	ck_assert_uint_eq(c->providers[0].retry.transient_sends, 3);
	ck_assert_uint_eq(c->providers[1].retry.overload_sends, 7);
	ck_assert_uint_eq(c->providers[1].retry.deadline_ms, 30000);
	tp_config_unref(c);
}
END_TEST

START_TEST(keeps_a_status_in_one_class)
{
	struct tp_config *c =
		parse("retry: {overload: {statuses: [429, 503]}}\n"
		      "providers: {p: {url: \"http://h\", retry: {transient: {statuses: [429, 500]}}}}\n");
	check_statuses(&c->retry.overload_statuses, "429 503 ");
	check_statuses(&c->retry.transient_statuses, "500 502 504 520 521 522 ");
	check_statuses(&c->providers[0].retry.transient_statuses, "429 500 ");
	check_statuses(&c->providers[0].retry.overload_statuses, "503 ");
	tp_config_unref(c);
}
END_TEST

/* What the sections `retry` and `budget`, and provider p's own `retry`, amount to for p. */
static const struct {
	const char *global, *own;
	uint32_t overload, overload_429, ceiling, budget, reserve;
	const char *transient_statuses, *overload_statuses;
} profiles[] = {
#define FULL "500 502 503 504 520 521 522 "
#define LESS "500 502 504 520 521 522 "
	{"retry: {profile: guarded}", "{}", 4, 4, 60000, 4, 1, FULL, "429 529 "},
	{"retry: {profile: patient}", "{}", 6, 4, 300000, 6, 1, LESS, "429 503 529 "},
	{"", "{profile: patient}", 6, 4, 300000, 6, 1, LESS, "429 503 529 "},
	/* back to the defaults: the profile's numbers are those of the option table */
	{"retry: {profile: patient}", "{profile: guarded}", 4, 4, 60000, 4, 1, FULL, "429 529 "},
	/* what is written wins, here or above, before or behind the profile */
	{"retry: {overload: {sends: 2}, profile: patient}", "{}", 2, 2, 300000, 6, 1, LESS, "429 503 529 "},
	{"retry: {overload: {sends: 4}, retry_after: {ceiling: 60s}}", "{profile: patient}", 4, 4, 60000, 6,
	 1, LESS, "429 503 529 "},
	{"retry: {profile: patient}", "{overload: {sends: 9}}", 9, 9, 300000, 6, 1, LESS, "429 503 529 "},
	{"budget: {sends: 3}", "{profile: patient}", 6, 4, 300000, 3, 1, LESS, "429 503 529 "},
	{"budget: {sends: 4, reserve: 0}\nretry: {profile: patient}", "{}", 6, 4, 300000, 4, 0, LESS,
	 "429 503 529 "},
	{"budget: {reserve: 5}\nretry: {profile: patient}", "{}", 6, 4, 300000, 6, 5, LESS, "429 503 529 "},
	/* lists: a status stands in one class, and the nearer list keeps it */
	{"retry: {profile: patient, transient: {statuses: [500, 503]}}", "{}", 6, 4, 300000, 6, 1, "500 503 ",
	 "429 529 "},
	{"retry: {profile: patient, overload: {statuses: [429]}}", "{}", 6, 4, 300000, 6, 1, FULL, "429 "},
	{"retry: {transient: {statuses: [503]}}", "{profile: patient}", 6, 4, 300000, 6, 1, "503 ",
	 "429 529 "},
	{"retry: {overload: {statuses: [429, 503]}}", "{profile: guarded}", 4, 4, 60000, 4, 1, LESS,
	 "429 503 "},
	{"retry: {profile: patient}", "{transient: {statuses: [502, 503]}}", 6, 4, 300000, 6, 1, "502 503 ",
	 "429 529 "},
};

static void check_profile(const struct tp_config *c, int i)
{
	const struct tp_retry_conf *r = &c->providers[0].retry;
	ck_assert_uint_eq(r->overload_sends, profiles[i].overload);
	ck_assert_uint_eq(r->overload_429_sends, profiles[i].overload_429);
	ck_assert_uint_eq(r->ceiling_ms, profiles[i].ceiling);
	ck_assert_uint_eq(r->budget_sends, profiles[i].budget);
	ck_assert_uint_eq(r->budget_reserve, profiles[i].reserve);
	check_statuses(&r->transient_statuses, profiles[i].transient_statuses);
	check_statuses(&r->overload_statuses, profiles[i].overload_statuses);
}

START_TEST(resolves_profiles)
{
	struct tp_buf yaml = {0}, shown = {0};
	/* q has no section of its own: a neighbour's profile must not reach it */
	tp_buf_printf(&yaml,
		      "providers: {p: {url: \"http://h\", retry: %s}, q: {url: \"http://h\"}}\n"
		      "routes: [{path: /, provider: p}, {path: /q, provider: q}]\n%s\n",
		      profiles[_i].own, profiles[_i].global);
	struct tp_config *c = parse(tp_buf_cstr(&yaml));
	check_profile(c, _i);
	ck_assert_mem_eq(&c->providers[1].retry, &c->retry, sizeof c->retry);
	ck_assert_uint_eq(c->retry.budget_sends, c->budget.sends);
	ck_assert_uint_eq(c->retry.budget_reserve, c->budget.reserve);
	tp_config_show_effective(c, &shown);
	tp_config_unref(c);
	/* what is shown means the same for each provider, profiles included */
	c = parse(tp_buf_cstr(&shown));
	check_profile(c, _i);
	ck_assert_mem_eq(&c->providers[1].retry, &c->retry, sizeof c->retry);
	tp_config_unref(c);
	tp_buf_free(&yaml);
	tp_buf_free(&shown);
}
END_TEST

START_TEST(reads_the_rest_of_the_policy)
{
	struct tp_config *c = parse("providers:\n"
				    "  p: {url: \"http://h\", timeouts: {token: 20s},\n"
				    "      retry: {ambiguous_replays: 1, heartbeat: {every: 100ms}}}\n"
				    "retry: {heartbeat: {after: 1s, every: 2s}}\n");
	const struct tp_provider_conf *p = &c->providers[0];
	ck_assert_uint_eq(p->token_ms, 20000);
	ck_assert_uint_eq(p->retry.ambiguous_replays, 1);
	ck_assert_uint_eq(p->retry.heartbeat_after_ms, 1000);
	ck_assert_uint_eq(p->retry.heartbeat_every_ms, 100);
	ck_assert_uint_eq(c->retry.ambiguous_replays, 0);
	ck_assert_uint_eq(c->retry.heartbeat_every_ms, 2000);
	tp_config_unref(c);
}
END_TEST

START_TEST(expands_variables_and_files)
{
	char path[] = "/tmp/tp-config-XXXXXX";
	int fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, "from-file\r\n", 11), 11);
	ck_assert_int_eq(close(fd), 0);
	ck_assert_int_eq(setenv("TP_TEST_A", "from ${TP_TEST_A}", 1), 0);
	ck_assert_int_eq(setenv("TP_TEST_N", "5", 1), 0);
	struct tp_buf yaml = {0};
	tp_buf_printf(&yaml,
		      "providers: {p: {url: \"http://h\", keys: [\"a-${file:%s}-z\"]}}\n"
		      "log: {output: \"/$${x}${TP_TEST_A}$y\"}\nworkers: ${TP_TEST_N}\nbudget: {ttl: "
		      "\"${TP_TEST_N}m\"}\n",
		      path);
	struct tp_config *c = parse(tp_buf_cstr(&yaml));
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_str_eq(c->providers[0].keys[0], "a-from-file-z");
	ck_assert_str_eq(c->log.output, "/${x}from ${TP_TEST_A}$y");
	ck_assert_uint_eq(c->workers, 5);
	ck_assert_uint_eq(c->budget.ttl_ms, 300000);
	tp_config_unref(c);
	tp_buf_free(&yaml);
}
END_TEST

START_TEST(counts_references)
{
	struct tp_config *c = parse(P);
	ck_assert_ptr_eq(tp_config_ref(c), c);
	tp_config_unref(c);
	ck_assert_str_eq(c->providers[0].name, "p"); /* still there: the sanitizer would tell */
	tp_config_unref(c);
	tp_config_unref(NULL);
}
END_TEST

/* Rows that would misbehave silently. */
static void check_rows(const struct tp_section *s)
{
	for (size_t i = 0; i < s->n_options; i++) {
		const struct tp_option *o = &s->options[i];
		bool number = o->type == TP_OPT_COUNT || o->type == TP_OPT_WORKERS ||
			      o->type == TP_OPT_LIMIT || o->type == TP_OPT_DURATION || o->type == TP_OPT_SIZE;
		ck_assert_msg(o->help != NULL && o->help[0] != '\0', "%s has no help", o->key);
		ck_assert_msg(!o->required || o->fallback == NULL, "%s is required and has a default",
			      o->key);
		if (number)
			ck_assert_msg(o->low <= o->high && (o->width == 8 || o->high >> (8 * o->width) == 0),
				      "%s: the bounds do not fit the field", o->key);
		for (size_t k = 0; k < i; k++)
			ck_assert_msg(strcmp(s->options[k].key, o->key) != 0, "%s is there twice", o->key);
		if (o->inner != NULL)
			check_rows(o->inner);
	}
}

START_TEST(table_is_sound)
{
	check_rows(&tp_config_root);
}
END_TEST

#define ROWS(table) (int)(sizeof(table) / sizeof((table)[0]))

TP_TESTS(config)
{
	tcase_add_test(t, table_is_sound);
	tcase_add_test(t, has_the_defaults_of_the_contract);
	tcase_add_loop_test(t, takes_urls_apart, 0, ROWS(urls));
	tcase_add_loop_test(t, takes_ways_out_apart, 0, ROWS(ways_out));
	tcase_add_loop_test(t, takes_addresses_apart, 0, ROWS(addresses));
	tcase_add_loop_test(t, accepts, 0, ROWS(accepted));
	tcase_add_test(t, lowers_names_and_drops_brackets);
	tcase_add_test(t, orders_routes_by_length);
	tcase_add_test(t, merges_retry_into_providers);
	tcase_add_test(t, keeps_a_status_in_one_class);
	tcase_add_loop_test(t, resolves_profiles, 0, ROWS(profiles));
	tcase_add_test(t, reads_the_rest_of_the_policy);
	tcase_add_test(t, expands_variables_and_files);
	tcase_add_test(t, counts_references);
}
