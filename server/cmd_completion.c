/* turnpike completion: what makes shells complete commands and options, out of the table of commands. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "server/commands.h"

/* ---- bash */

static bool takes_file(const struct tp_flag *f)
{
	return f->argument != NULL && strcmp(f->argument, "FILE") == 0;
}

static void bash_pattern(const struct tp_flag *f, bool *first)
{
	(void)printf("%s--%s", *first ? "" : "|", f->name);
	if (f->id < TP_FLAG_NUMBERED)
		(void)printf("|-%c", f->id);
	*first = false;
}

/* What a value behind an option may be: files, words, or nothing that could be guessed. */
static void bash_values(const struct tp_command *c)
{
	bool first = true;
	for (const struct tp_flag *const *f = c->flags; *f != NULL; f++)
		if ((*f)->words != NULL)
			(void)printf("\t\t\t--%s) COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return ;;\n",
				     (*f)->name, (*f)->words);
	for (const struct tp_flag *const *f = c->flags; *f != NULL; f++) {
		if (!takes_file(*f))
			continue;
		if (first)
			(void)printf("\t\t\t");
		bash_pattern(*f, &first);
	}
	if (!first)
		(void)printf(") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n");
	first = true;
	for (const struct tp_flag *const *f = c->flags; *f != NULL; f++) {
		if ((*f)->argument == NULL || (*f)->words != NULL || takes_file(*f))
			continue;
		if (first)
			(void)printf("\t\t\t");
		bash_pattern(*f, &first);
	}
	if (!first)
		(void)printf(") return ;;\n");
}

static void bash_words(const struct tp_command *c)
{
	(void)printf("\t\twords=\"");
	if (c->operands != NULL)
		(void)printf("%s ", c->operands);
	for (const struct tp_flag *const *f = c->flags; *f != NULL; f++) {
		if ((*f)->id < TP_FLAG_NUMBERED)
			(void)printf("-%c ", (*f)->id);
		(void)printf("--%s ", (*f)->name);
	}
	(void)printf("-h --help\" ;;\n");
}

static bool has_values(const struct tp_command *c)
{
	for (const struct tp_flag *const *f = c->flags; *f != NULL; f++)
		if ((*f)->argument != NULL)
			return true;
	return false;
}

static void print_names(const char *before)
{
	(void)printf("%s", before);
	for (size_t i = 0, n = 0; i < tp_n_commands; i++)
		if (tp_commands[i].does != NULL)
			(void)printf("%s%s", n++ > 0 ? " " : "", tp_commands[i].name);
}

static void bash(void)
{
	(void)printf("# bash completion of turnpike, made by \"turnpike completion bash\"\n"
		     "_turnpike() {\n"
		     "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=\"\"\n");
	print_names("\tlocal commands=\"");
	(void)printf("\"\n\tCOMPREPLY=()\n"
		     "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
		     "\t\tCOMPREPLY=($(compgen -W \"$commands --help --version\" -- \"$cur\"))\n"
		     "\t\treturn\n"
		     "\tfi\n"
		     "\tcase ${COMP_WORDS[1]} in\n");
	for (size_t i = 0; i < tp_n_commands; i++) {
		const struct tp_command *c = &tp_commands[i];
		if (c->does == NULL || c->run == tp_cmd_help)
			continue;
		(void)printf("\t%s)\n", c->name);
		if (has_values(c)) {
			(void)printf("\t\tcase $prev in\n");
			bash_values(c);
			(void)printf("\t\tesac\n");
		}
		bash_words(c);
	}
	(void)printf("\thelp)\n\t\twords=\"$commands\" ;;\n"
		     "\tesac\n"
		     "\tCOMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
		     "}\n"
		     "complete -F _turnpike turnpike\n");
}

/* ---- zsh */

/* Inside of single quotes, where also [ ] and : mean something. One line of it. */
static void zsh_text(const char *text)
{
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			(void)printf("'\\''");
		else if (*text == '\n')
			(void)printf(" ");
		else
			(void)printf("%s%c", strchr("[]:\\", *text) != NULL ? "\\" : "", *text);
	}
}

static void zsh_value(const struct tp_flag *f)
{
	if (f->argument == NULL)
		return;
	(void)printf(":");
	zsh_text(f->argument);
	(void)printf(":");
	if (f->words != NULL)
		(void)printf("(%s)", f->words);
	else if (takes_file(f))
		(void)printf("_files");
}

static void zsh_flag(const struct tp_flag *f)
{
	bool again = f->id == TP_FLAG_HEADER || f->id == TP_FLAG_LISTEN;
	for (int letter = f->id < TP_FLAG_NUMBERED ? 1 : 0; letter >= 0; letter--) {
		(void)printf(" \\\n\t\t\t'%s", again ? "*" : "");
		if (letter == 1)
			(void)printf("-%c", f->id);
		else
			(void)printf("--%s", f->name);
		(void)printf("[");
		zsh_text(f->help);
		(void)printf("]");
		zsh_value(f);
		(void)printf("'");
	}
}

static void zsh(void)
{
	(void)printf("#compdef turnpike\n"
		     "# zsh completion of turnpike, made by \"turnpike completion zsh\"\n"
		     "_turnpike() {\n"
		     "\tlocal -a commands\n"
		     "\tcommands=(\n");
	for (size_t i = 0; i < tp_n_commands; i++) {
		if (tp_commands[i].does == NULL)
			continue;
		(void)printf("\t\t'%s:", tp_commands[i].name);
		zsh_text(tp_commands[i].does);
		(void)printf("'\n");
	}
	(void)printf("\t)\n"
		     "\tif (( CURRENT == 2 )); then\n"
		     "\t\t_describe command commands\n"
		     "\t\treturn\n"
		     "\tfi\n"
		     "\tlocal command=$words[2]\n"
		     "\tshift words\n"
		     "\t(( CURRENT-- ))\n"
		     "\tcase $command in\n");
	for (size_t i = 0; i < tp_n_commands; i++) {
		const struct tp_command *c = &tp_commands[i];
		if (c->does == NULL)
			continue;
		(void)printf("\t%s)\n\t\t_arguments", c->name);
		for (const struct tp_flag *const *f = c->flags; *f != NULL; f++)
			zsh_flag(*f);
		zsh_flag(&tp_flag_help);
		if (c->operands != NULL)
			(void)printf(" \\\n\t\t\t'1: :(%s)'", c->operands);
		else if (c->run == tp_cmd_help)
			(void)printf(" \\\n\t\t\t'1: :{_describe command commands}'");
		(void)printf(" ;;\n");
	}
	(void)printf("\tesac\n}\n_turnpike \"$@\"\n");
}

int tp_cmd_completion(int argc, char **argv)
{
	struct tp_options o = tp_options_begin(argc, argv);
	int flag = tp_options_next(&o);
	if (flag != TP_FLAG_END)
		return flag == TP_FLAG_HELP ? 0 : 2;
	const char *shell = optind < argc ? argv[optind] : "";
	if (!tp_options_operands(&o, 1))
		return 2;
	if (strcmp(shell, "bash") == 0)
		bash();
	else if (strcmp(shell, "zsh") == 0)
		zsh();
	else
		return tp_options_wrong(&o, "bash or zsh?");
	return 0;
}
