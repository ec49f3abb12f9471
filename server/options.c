/* Arguments of a command, by its row of the table. */
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/config/suggest.h"
#include "server/commands.h"
#include "server/help.h"

struct tp_options tp_options_begin(int argc, char **argv)
{
	optind = 0; /* getopt may have run before */
	opterr = 0;
	return (struct tp_options){.command = tp_command_find(argv[0]), .argc = argc, .argv = argv};
}

int tp_options_wrong(const struct tp_options *o, const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	(void)fprintf(stderr, "turnpike %s: ", o->command->name);
	(void)vfprintf(stderr, format, ap);
	(void)fprintf(stderr, "\nTry: turnpike %s --help\n", o->command->name);
	va_end(ap);
	return 2;
}

static void add(struct option *list, char *letters, const struct tp_flag *f)
{
	*list = (struct option){f->name, f->argument != NULL ? required_argument : no_argument, NULL, f->id};
	if (f->id >= TP_FLAG_NUMBERED)
		return;
	size_t n = strlen(letters);
	letters[n++] = (char)f->id;
	if (f->argument != NULL)
		letters[n++] = ':';
	letters[n] = '\0';
}

static int wrong_option(const struct tp_options *o, int c)
{
	const char *word = o->argv[optind - 1];
	if (c == ':') {
		(void)tp_options_wrong(o, "%s needs a value", word);
		return TP_FLAG_WRONG;
	}
	struct tp_suggestion near = tp_suggest_begin(strncmp(word, "--", 2) == 0 ? word + 2 : word);
	for (const struct tp_flag *const *f = o->command->flags; *f != NULL; f++)
		tp_suggest_candidate(&near, (*f)->name);
	if (strncmp(word, "--", 2) != 0 && optopt > 0 && optopt < TP_FLAG_NUMBERED)
		(void)tp_options_wrong(o, "there is no option -%c", optopt);
	else if (near.best != NULL)
		(void)tp_options_wrong(o, "%s is wrong; did you mean --%s?", word, near.best);
	else
		(void)tp_options_wrong(o, "there is no option %s", word);
	return TP_FLAG_WRONG;
}

int tp_options_next(struct tp_options *o)
{
	struct option list[TP_FLAGS_MAX + 2] = {{0}};
	char letters[2 * TP_FLAGS_MAX + 4] = ":";
	size_t n = 0;
	for (; o->command->flags[n] != NULL; n++)
		add(&list[n], letters, o->command->flags[n]);
	add(&list[n], letters, &tp_flag_help);
	int c = getopt_long(o->argc, o->argv, letters, list, NULL);
	if (c == '?' || c == ':')
		return wrong_option(o, c);
	if (c == TP_FLAG_HELP)
		tp_help_command(o->command);
	return c;
}

bool tp_options_operands(const struct tp_options *o, int most)
{
	if (o->argc - optind <= most)
		return true;
	(void)tp_options_wrong(o, "what is \"%s\"?", o->argv[optind + most]);
	return false;
}
