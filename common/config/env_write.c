#include "common/config/env_write.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/config/quote.h"

enum { RETRIES_MAX = 99, PORT_MAX = 65535 };

void tp_env_say(const struct tp_env_writer *w, const struct tp_env_variable *v, const char *message, size_t n)
{
	if (v != NULL && v->line > 0)
		tp_buf_printf(w->errors, "%s:%u: %s: %.*s\n", w->file, v->line, v->name, (int)n, message);
	else
		tp_buf_printf(w->errors, "%s: %s%s%.*s\n", w->file, v != NULL ? v->name : "",
			      v != NULL ? ": " : "", (int)n, message);
}

void tp_env_refuse(struct tp_env_writer *w, const struct tp_env_variable *v, const char *message)
{
	tp_env_say(w, v, message, strlen(message));
	w->wrong = true;
}

/* ---- lines */

/* before "value" behind; v is what to blame. */
static void put(struct tp_env_writer *w, const struct tp_env_variable *v, const char *before,
		const char *value, const char *behind)
{
	tp_buf_add_str(&w->yaml, tp_str_from(before));
	if (value != NULL)
		tp_config_quote(&w->yaml, tp_str_from(value));
	tp_buf_add_str(&w->yaml, tp_str_from(behind));
	tp_buf_add_str(&w->yaml, TP_STR("\n"));
	w->of[++w->lines] = v;
}

static void put_value(struct tp_env_writer *w, const char *name, const char *before, const char *behind)
{
	const struct tp_env_variable *v = tp_env_find(w->env, name);
	if (v != NULL)
		put(w, v, before, v->value, behind);
}

/* ---- values that are not as YAML has them */

static bool read_number(const char *text, unsigned most, unsigned *ret_number)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	*ret_number = (unsigned)n;
	return text[0] >= '0' && text[0] <= '9' && *end == '\0' && n <= most;
}

/* Sends are retries and the first one; all of them in one budget, whatever they are for. */
static void put_retries(struct tp_env_writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "MAX_RETRIES");
	unsigned retries = 3;
	if (v != NULL && !read_number(v->value, RETRIES_MAX, &retries)) {
		tp_env_refuse(w, v, "is not a number from 0 to 99");
		return;
	}
	for (size_t i = 0; i < 3; i++) {
		static const char *const classes[] = {"overload", "transient", "reset"};
		tp_buf_printf(&w->yaml, "  %s: { sends: %u }\n", classes[i], retries + 1);
		w->of[++w->lines] = v;
	}
	tp_buf_printf(&w->yaml, "budget: { sends: %u, reserve: 0 }\n", retries + 1);
	w->of[++w->lines] = v;
}

/* A bare number is of seconds. */
static void put_timeout(struct tp_env_writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "TOTAL_TIMEOUT");
	if (v == NULL)
		return;
	bool bare = strspn(v->value, "0123456789.") == strlen(v->value);
	struct tp_buf text = {0};
	tp_buf_printf(&text, "%s%s", v->value, bare ? "s" : "");
	const char *duration = tp_buf_cstr(&text);
	put(w, v, "  deadline: ", duration != NULL ? duration : "", "");
	tp_buf_free(&text);
}

static bool is_one_of(const char *text, const char *const *words)
{
	for (; *words != NULL; words++)
		if (strcasecmp(text, *words) == 0)
			return true;
	return false;
}

static const char *const yes[] = {"true", "1", "yes", "on", NULL};
static const char *const no[] = {"false", "0", "no", "off", NULL};

/* Logging that is off still tells errors. */
static bool logging_is_off(struct tp_env_writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "ENABLE_LOGGING");
	if (v != NULL && !is_one_of(v->value, yes) && !is_one_of(v->value, no))
		tp_env_refuse(w, v, "is neither true nor false");
	return v != NULL && is_one_of(v->value, no);
}

static const char *level_of(const char *text)
{
	static const char *const words[][2] = {{"error", "error"}, {"warn", "warn"},    {"info", "info"},
					       {"debug", "debug"}, {"warning", "warn"}, {"critical", "error"},
					       {"fatal", "error"}, {"notice", "info"},  {"trace", "debug"}};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcasecmp(text, words[i][0]) == 0)
			return words[i][1];
	return text;
}

/* A path from where the program was started, since the configuration wants whole ones. */
static void put_path(struct tp_env_writer *w, const struct tp_env_variable *v, const char *before,
		     const char *path)
{
	char folder[4096];
	struct tp_buf whole = {0};
	if (path[0] != '/' && getcwd(folder, sizeof folder) != NULL)
		tp_buf_printf(&whole, "%s/", folder);
	tp_buf_add_str(&whole, tp_str_from(path));
	const char *text = tp_buf_cstr(&whole);
	put(w, v, before, text != NULL ? text : "", "");
	tp_buf_free(&whole);
}

static void put_log_file(struct tp_env_writer *w)
{
	static const char *const words[] = {"stderr", "syslog", NULL};
	const struct tp_env_variable *v = tp_env_find(w->env, "LOG_FILE");
	if (v != NULL && is_one_of(v->value, words))
		put(w, v, "  output: ", v->value, "");
	else if (v != NULL)
		put_path(w, v, "  output: ", v->value);
}

/* Where to: a folder, or one named snapshots for a yes. */
static void put_snapshots(struct tp_env_writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "SNAPSHOT_FAILED_REQUESTS");
	if (v == NULL || is_one_of(v->value, no))
		return;
	put(w, NULL, "snapshots:", NULL, "");
	put_path(w, v, "  directory: ", is_one_of(v->value, yes) ? "snapshots" : v->value);
}

static void put_log(struct tp_env_writer *w)
{
	const struct tp_env_variable *level = tp_env_find(w->env, "LOG_LEVEL");
	put(w, NULL, "log:", NULL, "");
	if (logging_is_off(w)) {
		put(w, NULL, "  level: error", NULL, "");
		return;
	}
	put(w, level, "  level: ", level != NULL ? level_of(level->value) : "info", "");
	put_log_file(w);
}

static void put_metrics(struct tp_env_writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "METRICS_PORT");
	unsigned port;
	if (v == NULL)
		return;
	if (!read_number(v->value, PORT_MAX, &port)) {
		tp_env_refuse(w, v, "is not a port");
		return;
	}
	tp_buf_printf(&w->yaml, "admin: { listen: \"127.0.0.1:%u\" }\n", port);
	w->of[++w->lines] = v;
}

/* REFRESH_URL, or /auth/refresh on the endpoint's host. */
static void put_refresh_url(struct tp_env_writer *w, const struct tp_env_variable *token)
{
	const struct tp_env_variable *url = tp_env_find(w->env, "REFRESH_URL"),
				     *endpoint = tp_env_find(w->env, "CODEX_ENDPOINT");
	if (url != NULL || endpoint == NULL) {
		put(w, url, "      url: ", url != NULL ? url->value : "", "");
		return;
	}
	const char *scheme = strstr(endpoint->value, "://"),
		   *host = scheme != NULL ? scheme + 3 : endpoint->value;
	struct tp_buf text = {0};
	tp_buf_add(&text, endpoint->value, (size_t)(host - endpoint->value) + strcspn(host, "/?#"));
	tp_buf_add_str(&text, TP_STR("/auth/refresh"));
	const char *whole = tp_buf_cstr(&text);
	put(w, token, "      url: ", whole != NULL ? whole : "", "");
	tp_buf_free(&text);
}

/* The name of the instance, with its slash or without. */
static void put_state(struct tp_env_writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "STATE_NAME");
	struct tp_buf name = {0};
	if (v == NULL)
		return;
	tp_buf_printf(&name, "%s%s", v->value[0] == '/' ? "" : "/", v->value);
	const char *text = tp_buf_cstr(&name);
	put(w, v, "state: { name: ", text != NULL ? text : "", " }");
	tp_buf_free(&name);
}

/* Without a file: as the instance is named, so that two that start in one folder keep their tokens apart. */
static const char *instance_of(const struct tp_env_writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "STATE_NAME");
	const char *name = v != NULL ? v->value : "turnpike";
	return name + (name[0] == '/');
}

/* A token that the endpoint gives in place of the first one is kept beside the file with the first one. */
static void put_state_file(struct tp_env_writer *w, const struct tp_env_variable *token)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "REFRESH_STATE_FILE");
	struct tp_buf text = {0};
	tp_buf_printf(&text, "%s.refresh", token->line > 0 ? w->file : instance_of(w));
	const char *path = v != NULL ? v->value : tp_buf_cstr(&text);
	put_path(w, v != NULL ? v : token, "      state_file: ", path != NULL ? path : "");
	tp_buf_free(&text);
}

static void put_refresh(struct tp_env_writer *w)
{
	const struct tp_env_variable *token = tp_env_find(w->env, "REFRESH_TOKEN");
	if (token == NULL)
		return;
	put(w, NULL, "    refresh:", NULL, "");
	put(w, token, "      refresh_token: ", token->value, "");
	put_refresh_url(w, token);
	put_state_file(w, token);
}

/* Many systems set SSL_CERT_FILE for all programs. */
static bool is_https(const struct tp_env_writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "CODEX_ENDPOINT");
	return v != NULL && strncasecmp(v->value, "https:", 6) == 0;
}

void tp_env_write(struct tp_env_writer *w)
{
	put(w, NULL, "providers:", NULL, "");
	put(w, NULL, "  codex:", NULL, "");
	put_value(w, "CODEX_ENDPOINT", "    url: ", "");
	put_value(w, "CODEX_API_KEY", "    keys: [ ", " ]");
	if (is_https(w))
		put_value(w, "SSL_CERT_FILE", "    tls: { ca: ", " }");
	put_refresh(w);
	put(w, NULL, "retry:", NULL, "");
	put(w, NULL, "  profile: patient", NULL, "");
	put_timeout(w);
	put_retries(w);
	put_log(w);
	put_snapshots(w);
	put_metrics(w);
	put_state(w);
}
