#include "server/load.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "common/config/env.h"
#include "common/config/files.h"

static const char command_line[] = "command line";

static void add_listen(struct tp_buf *yaml, const struct tp_load_options *o)
{
	if (o->n_listen == 0)
		return;
	tp_buf_add_str(yaml, TP_STR("listen:\n"));
	for (size_t i = 0; i < o->n_listen; i++) {
		tp_buf_add_str(yaml, TP_STR("  - \""));
		tp_buf_add_json(yaml, tp_str_from(o->listen[i]));
		tp_buf_add_str(yaml, TP_STR("\"\n"));
	}
}

static void add_provider(struct tp_buf *yaml, const char *url)
{
	tp_buf_add_str(yaml, TP_STR("providers:\n  default:\n    url: \""));
	tp_buf_add_json(yaml, tp_str_from(url));
	tp_buf_add_str(yaml, TP_STR("\"\n"));
}

static struct tp_config *parse(struct tp_buf *yaml, struct tp_buf *errors)
{
	struct tp_config *c = NULL;
	if (tp_buf_cstr(yaml) == NULL)
		tp_buf_printf(errors, "%s: out of memory\n", command_line);
	else
		c = tp_config_parse(command_line, tp_buf_str(yaml), errors);
	tp_buf_free(yaml);
	return c;
}

static struct tp_config *from_endpoint(const struct tp_load_options *o, struct tp_buf *errors)
{
	struct tp_buf yaml = {0};
	add_listen(&yaml, o);
	add_provider(&yaml, o->endpoint);
	struct tp_config *c = parse(&yaml, errors);
	if (c != NULL)
		c->ask_at_start = true;
	return c;
}

static void swap_listeners(struct tp_config *a, struct tp_config *b)
{
	struct tp_listener_conf *listeners = a->listeners;
	size_t n = a->n_listeners;
	a->listeners = b->listeners;
	a->n_listeners = b->n_listeners;
	b->listeners = listeners;
	b->n_listeners = n;
}

/*
 * The addresses go through the same checks as those of a file: they are read as the `listen` of a small
 * configuration that has clients, or lets anyone in, exactly if the file does.  Nothing else of it is used.
 */
static bool replace_listeners(struct tp_config *c, const struct tp_load_options *o, struct tp_buf *errors)
{
	struct tp_buf yaml = {0};
	add_listen(&yaml, o);
	add_provider(&yaml, "http://127.0.0.1:1");
	if (c->allow_anonymous)
		tp_buf_add_str(&yaml, TP_STR("allow_anonymous: true\n"));
	if (c->n_clients > 0)
		tp_buf_add_str(
			&yaml,
			TP_STR("clients:\n  - { name: some, key: 0123456789abcdef0123456789abcdef }\n"));
	struct tp_config *with = parse(&yaml, errors);
	if (with == NULL)
		return false;
	swap_listeners(c, with);
	tp_config_unref(with);
	return true;
}

void tp_load_tell(struct tp_buf *errors, bool loaded)
{
	const char *text = tp_buf_cstr(errors);
	if (text == NULL || (errors->len == 0 && !loaded))
		text = "out of memory\n";
	(void)fputs(text, stderr);
	tp_buf_free(errors);
}

static bool has_default_file(void)
{
	return access(TP_CONFIG_DEFAULT_FILE, F_OK) == 0 || errno != ENOENT;
}

void tp_load_choose(struct tp_load_options *o)
{
	o->environment = o->file == NULL && o->env_file == NULL && o->endpoint == NULL && tp_env_present() &&
			 !has_default_file();
}

const char *tp_load_file(const struct tp_load_options *o)
{
	if (o->endpoint != NULL || o->environment)
		return NULL;
	return o->env_file != NULL ? o->env_file : o->file != NULL ? o->file : TP_CONFIG_DEFAULT_FILE;
}

static struct tp_config *from_file(const struct tp_load_options *o, struct tp_buf *errors)
{
	if (o->file == NULL && tp_files_used() == NULL && !has_default_file()) {
		tp_buf_printf(
			errors,
			"%s does not exist: name a file with -c FILE or --env-file FILE, a provider with "
			"--endpoint URL, or set CODEX_ENDPOINT\n",
			TP_CONFIG_DEFAULT_FILE);
		return NULL;
	}
	return tp_config_load(tp_load_file(o), errors);
}

struct tp_config *tp_load_config(const struct tp_load_options *o, struct tp_buf *errors)
{
	if (o->endpoint != NULL)
		return from_endpoint(o, errors);
	struct tp_config *c = o->env_file != NULL || o->environment ? tp_env_load(o->env_file, errors)
								    : from_file(o, errors);
	if (c != NULL && o->n_listen > 0 && !replace_listeners(c, o, errors)) {
		tp_config_unref(c);
		return NULL;
	}
	return c;
}
