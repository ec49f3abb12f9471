#include "common/config/env.h"

#include <errno.h>
#include <stdlib.h>

#include "common/config/env_write.h"
#include "common/config/files.h"
#include "common/config/suggest.h"

static const char *const names[] = {"CODEX_ENDPOINT",
				    "CODEX_API_KEY",
				    "MAX_RETRIES",
				    "TOTAL_TIMEOUT",
				    "ENABLE_LOGGING",
				    "LOG_LEVEL",
				    "LOG_FILE",
				    "REFRESH_TOKEN",
				    "REFRESH_URL",
				    "REFRESH_STATE_FILE",
				    "SNAPSHOT_FAILED_REQUESTS",
				    "SSL_CERT_FILE",
				    "METRICS_PORT",
				    "STATE_NAME"};
enum { N_NAMES = sizeof names / sizeof names[0] };

/* ---- what was wrong: the line of the YAML says which variable */

/* "name:line:column: message" */
static void retell(const struct tp_env_writer *w, const char *text)
{
	while (*text != '\0') {
		size_t n = strcspn(text, "\n");
		const char *colon = strchr(text, ':'), *message = strstr(text, ": ");
		unsigned long line = colon != NULL ? strtoul(colon + 1, NULL, 10) : 0;
		if (message == NULL || message > text + n)
			message = text;
		else
			message += 2;
		tp_env_say(w, line <= w->lines ? w->of[line] : NULL, message, n - (size_t)(message - text));
		text += n + (text[n] == '\n');
	}
}

static struct tp_config *parse(struct tp_env_writer *w)
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
static void warn_of_near_names(const struct tp_env_writer *w)
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
	struct tp_env_writer w = {.file = file, .env = env, .errors = errors};
	struct tp_config *c = NULL;
	if (tp_env_find(env, "CODEX_ENDPOINT") == NULL)
		tp_env_refuse(&w, NULL,
			      "CODEX_ENDPOINT is missing: the URL of the provider, such as "
			      "https://api.openai.com/v1");
	tp_env_write(&w);
	if (!w.wrong)
		c = parse(&w);
	if (w.yaml.data != NULL)
		explicit_bzero(w.yaml.data, w.yaml.size);
	tp_buf_free(&w.yaml);
	if (c != NULL) {
		char *name = strdup(file);
		if (name != NULL) {
			free(c->file);
			c->file = name;
		}
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

struct tp_config *tp_env_load(const char *file, struct tp_buf *errors)
{
	if (file == NULL)
		return load_environment(errors);
	struct tp_buf text = {0};
	struct tp_config *c = NULL;
	struct tp_files *before = tp_files_used();
	struct tp_files *files = before != NULL ? tp_files_ref(before) : tp_files_new();
	(void)tp_files_use(files);
	int error = files != NULL ? tp_files_read(file, TP_CONFIG_FILE_MAX, true, &text) : ENOMEM;
	if (error != 0)
		tp_buf_printf(errors, "%s: cannot be read: %s\n", file, strerror(error));
	else
		c = tp_env_load_text(file, tp_buf_str(&text), errors);
	(void)tp_files_use(before);
	tp_files_unref(files);
	if (text.data != NULL)
		explicit_bzero(text.data, text.size);
	tp_buf_free(&text);
	return c;
}
