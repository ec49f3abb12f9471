#include "common/config/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/config/quote.h"
#include "common/config/suggest.h"

enum { LINES_MAX = 64, RETRIES_MAX = 99, PORT_MAX = 65535 };

static const char *const names[] = {"CODEX_ENDPOINT", "CODEX_API_KEY",  "MAX_RETRIES",
				    "TOTAL_TIMEOUT",  "ENABLE_LOGGING", "LOG_LEVEL",
				    "LOG_FILE",       "SSL_CERT_FILE",  "METRICS_PORT"};
enum { N_NAMES = sizeof names / sizeof names[0] };

/* The YAML, and which variable each of its lines is made of. */
struct writer {
	const char *file;
	const struct tp_env *env;
	struct tp_buf yaml;
	const struct tp_env_variable *of[LINES_MAX + 1]; /* by line, from 1 */
	unsigned lines;
	struct tp_buf *errors;
	bool wrong;
};

static void say(const struct writer *w, const struct tp_env_variable *v, const char *message, size_t n)
{
	if (v != NULL && v->line > 0)
		tp_buf_printf(w->errors, "%s:%u: %s: %.*s\n", w->file, v->line, v->name, (int)n, message);
	else
		tp_buf_printf(w->errors, "%s: %s%s%.*s\n", w->file, v != NULL ? v->name : "",
			      v != NULL ? ": " : "", (int)n, message);
}

static void refuse(struct writer *w, const struct tp_env_variable *v, const char *message)
{
	say(w, v, message, strlen(message));
	w->wrong = true;
}

/* ---- lines */

/* before "value" behind; v is what to blame. */
static void put(struct writer *w, const struct tp_env_variable *v, const char *before, const char *value,
		const char *behind)
{
	tp_buf_add_str(&w->yaml, tp_str_from(before));
	if (value != NULL)
		tp_config_quote(&w->yaml, tp_str_from(value));
	tp_buf_add_str(&w->yaml, tp_str_from(behind));
	tp_buf_add_str(&w->yaml, TP_STR("\n"));
	w->of[++w->lines] = v;
}

static void put_value(struct writer *w, const char *name, const char *before, const char *behind)
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
static void put_retries(struct writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "MAX_RETRIES");
	unsigned retries = 3;
	if (v != NULL && !read_number(v->value, RETRIES_MAX, &retries)) {
		refuse(w, v, "is not a number from 0 to 99");
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
static void put_timeout(struct writer *w)
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

/* Logging that is off still tells errors. */
static bool logging_is_off(struct writer *w)
{
	static const char *const yes[] = {"true", "1", "yes", "on", NULL};
	static const char *const no[] = {"false", "0", "no", "off", NULL};
	const struct tp_env_variable *v = tp_env_find(w->env, "ENABLE_LOGGING");
	if (v != NULL && !is_one_of(v->value, yes) && !is_one_of(v->value, no))
		refuse(w, v, "is neither true nor false");
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

static void put_log_file(struct writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "LOG_FILE");
	char folder[4096];
	if (v == NULL)
		return;
	struct tp_buf path = {0};
	if (v->value[0] != '/' && strcmp(v->value, "stderr") != 0 && getcwd(folder, sizeof folder) != NULL)
		tp_buf_printf(&path, "%s/", folder);
	tp_buf_printf(&path, "%s", v->value);
	const char *text = tp_buf_cstr(&path);
	put(w, v, "  output: ", text != NULL ? text : "", "");
	tp_buf_free(&path);
}

static void put_log(struct writer *w)
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

static void put_metrics(struct writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "METRICS_PORT");
	unsigned port;
	if (v == NULL)
		return;
	if (!read_number(v->value, PORT_MAX, &port)) {
		refuse(w, v, "is not a port");
		return;
	}
	tp_buf_printf(&w->yaml, "admin: { listen: \"127.0.0.1:%u\" }\n", port);
	w->of[++w->lines] = v;
}

/* Many systems set SSL_CERT_FILE for all programs. */
static bool is_https(const struct writer *w)
{
	const struct tp_env_variable *v = tp_env_find(w->env, "CODEX_ENDPOINT");
	return v != NULL && strncasecmp(v->value, "https:", 6) == 0;
}

static void write_all(struct writer *w)
{
	put(w, NULL, "providers:", NULL, "");
	put(w, NULL, "  codex:", NULL, "");
	put_value(w, "CODEX_ENDPOINT", "    url: ", "");
	put_value(w, "CODEX_API_KEY", "    keys: [ ", " ]");
	if (is_https(w))
		put_value(w, "SSL_CERT_FILE", "    tls: { ca: ", " }");
	put(w, NULL, "retry:", NULL, "");
	put(w, NULL, "  profile: patient", NULL, "");
	put_timeout(w);
	put_retries(w);
	put_log(w);
	put_metrics(w);
}

/* ---- what was wrong: the line of the YAML says which variable */

/* "name:line:column: message" */
static void retell(const struct writer *w, const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		const char *colon = strchr(text, ':'), *message = strstr(text, ": ");
		unsigned long line = colon != NULL ? strtoul(colon + 1, NULL, 10) : 0;
		if (message == NULL || message > text + n)
			message = text;
		else
			message += 2;
		say(w, line <= w->lines ? w->of[line] : NULL, message, n - (size_t)(message - text));
		text += n + (text[n] == '\n');
	}
}

static struct tp_config *parse(struct writer *w)
{
	struct tp_buf errors = {0};
	struct tp_config *c = NULL;
	if (w->yaml.failed)
		tp_buf_printf(w->errors, "%s: out of memory\n", w->file);
	else
		c = tp_config_parse("env", tp_buf_str(&w->yaml), &errors);
	const char *text = tp_buf_cstr(&errors);
	if (text != NULL)
		retell(w, text);
	tp_buf_free(&errors);
	return c;
}

/* Other programs' variables are none of ours; one that is nearly ours is worth a word. */
static void warn_of_near_names(const struct writer *w)
{
	for (size_t i = 0; i < w->env->n; i++) {
		const struct tp_env_variable *v = &w->env->list[i];
		struct tp_suggestion near = tp_suggest_begin(v->name);
		bool known = false;
		for (size_t k = 0; k < N_NAMES; k++) {
			known = known || strcmp(v->name, names[k]) == 0;
			tp_suggest_candidate(&near, names[k]);
		}
		if (!known && near.best != NULL)
			tp_buf_printf(w->errors, "%s:%u: %s is not known and ignored; did you mean %s?\n",
				      w->file, v->line, v->name, near.best);
	}
}

static struct tp_config *build(const char *file, const struct tp_env *env, struct tp_buf *errors)
{
	struct writer w = {.file = file, .env = env, .errors = errors};
	struct tp_config *c = NULL;
	if (tp_env_find(env, "CODEX_ENDPOINT") == NULL)
		refuse(&w, NULL,
		       "CODEX_ENDPOINT is missing: the URL of the provider, such as "
		       "https://api.openai.com/v1");
	write_all(&w);
	if (!w.wrong)
		c = parse(&w);
	if (w.yaml.data != NULL)
		explicit_bzero(w.yaml.data, w.yaml.size);
	tp_buf_free(&w.yaml);
	if (c != NULL) {
		c->ask_at_start = true;
		warn_of_near_names(&w);
	}
	return c;
}

/* ---- where they come from */

struct tp_config *tp_env_load_text(const char *file, struct tp_str text, struct tp_buf *errors)
{
	struct tp_env env;
	struct tp_config *c = NULL;
	if (tp_env_parse(file, text, &env, errors))
		c = build(file, &env, errors);
	tp_env_free(&env);
	return c;
}

static struct tp_config *load_environment(struct tp_buf *errors)
{
	struct tp_env env = {0};
	struct tp_config *c = NULL;
	bool good = true;
	for (size_t i = 0; i < N_NAMES; i++) {
		const char *value = getenv(names[i]);
		if (value != NULL)
			good = tp_env_add(&env, tp_str_from(names[i]), tp_str_from(value), 0) && good;
	}
	if (good)
		c = build("environment", &env, errors);
	else
		tp_buf_printf(errors, "environment: out of memory\n");
	tp_env_free(&env);
	return c;
}

bool tp_env_present(void)
{
	const char *endpoint = getenv("CODEX_ENDPOINT");
	return endpoint != NULL && endpoint[0] != '\0';
}

/* 0 or an errno. */
static int read_file(const char *path, struct tp_buf *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int error = fd < 0 ? errno : 0;
	for (ssize_t n = 1; error == 0 && n != 0;) {
		if (!tp_buf_reserve(out, 4096))
			error = ENOMEM;
		else if ((n = read(fd, out->data + out->len, 4096)) < 0)
			error = errno == EINTR ? 0 : errno;
		else if ((out->len += (size_t)n) > TP_CONFIG_FILE_MAX)
			error = EFBIG;
	}
	if (fd >= 0)
		(void)close(fd);
	return error;
}

struct tp_config *tp_env_load(const char *file, struct tp_buf *errors)
{
	if (file == NULL)
		return load_environment(errors);
	struct tp_buf text = {0};
	struct tp_config *c = NULL;
	int error = read_file(file, &text);
	if (error != 0)
		tp_buf_printf(errors, "%s: cannot be read: %s\n", file, strerror(error));
	else
		c = tp_env_load_text(file, tp_buf_str(&text), errors);
	if (text.data != NULL)
		explicit_bzero(text.data, text.size);
	tp_buf_free(&text);
	return c;
}
