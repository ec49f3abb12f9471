#include "server/help.h"

#include <string.h>

#include "server/terminal.h"

enum { WIDTH = 100, MOST_COLUMN = 26, INDENT = 2 };

static const char usual_exits[] = "0  good\n"
				  "1  the command met a problem, or its output could not be written\n"
				  "2  wrong usage";

static void heading(FILE *to, const char *text)
{
	(void)fprintf(to, "\n%s%s%s\n", tp_style(to, TP_STYLE_BOLD), text, tp_style(to, TP_STYLE_END));
}

/* Lines as they are, each behind `indent` blanks; the first line goes on where the cursor is. */
static void print_lines(FILE *to, const char *text, int indent)
{
	for (const char *line = text; line != NULL;) {
		const char *end = strchr(line, '\n');
		int n = end != NULL ? (int)(end - line) : (int)strlen(line);
		(void)fprintf(to, "%*s%.*s\n", line == text || n == 0 ? 0 : indent, "", n, line);
		line = end != NULL ? end + 1 : NULL;
	}
}

/* Words filled up to WIDTH; an empty line begins a paragraph. */
static void print_paragraphs(FILE *to, const char *text)
{
	int column = 0;
	for (const char *p = text; *p != '\0';) {
		int n = (int)strcspn(p, " \n");
		if (column > 0 && column + 1 + n > WIDTH) {
			(void)fputc('\n', to);
			column = 0;
		}
		column += fprintf(to, "%s%.*s", column > 0 ? " " : "", n, p);
		p += n;
		if (strncmp(p, "\n\n", 2) == 0) {
			(void)fputs("\n\n", to);
			column = 0;
		}
		p += strspn(p, " \n");
	}
	(void)fputc('\n', to);
}

static int spell(char *out, size_t size, const struct tp_flag *f)
{
	char letter[8] = "    ";
	if (f->id < TP_FLAG_NUMBERED)
		(void)snprintf(letter, sizeof letter, "-%c, ", f->id);
	return snprintf(out, size, "%s--%s%s%s", letter, f->name, f->argument != NULL ? " " : "",
			f->argument != NULL ? f->argument : "");
}

static void print_flag(const struct tp_flag *f, int column)
{
	char text[64];
	(void)spell(text, sizeof text, f);
	(void)printf("%*s%s%-*s%s  ", INDENT, "", tp_style(stdout, TP_STYLE_NAME), column, text,
		     tp_style(stdout, TP_STYLE_END));
	print_lines(stdout, f->help, INDENT + column + 2);
}

static void print_flags(const struct tp_command *c)
{
	int column = 0;
	char text[64];
	for (const struct tp_flag *const *f = c->flags; *f != NULL; f++) {
		int n = spell(text, sizeof text, *f);
		column = n > column ? n : column;
	}
	column = column < 10 ? 10 : column > MOST_COLUMN ? MOST_COLUMN : column;
	heading(stdout, "Options");
	for (const struct tp_flag *const *f = c->flags; *f != NULL; f++)
		print_flag(*f, column);
	print_flag(&tp_flag_help, column);
}

static void print_usage(const struct tp_command *c)
{
	const char *form = c->usage;
	(void)printf("%sUsage:%s ", tp_style(stdout, TP_STYLE_BOLD), tp_style(stdout, TP_STYLE_END));
	for (;;) {
		const char *end = strchr(form, '\n');
		int n = end != NULL ? (int)(end - form) : (int)strlen(form);
		(void)printf("turnpike %s%s%.*s\n", c->name, n > 0 ? " " : "", n, form);
		if (end == NULL)
			return;
		(void)printf("       ");
		form = end + 1;
	}
}

void tp_help_command(const struct tp_command *c)
{
	print_usage(c);
	(void)printf("\n");
	print_paragraphs(stdout, c->about);
	print_flags(c);
	if (c->more != NULL)
		(void)printf("\n%s\n", c->more);
	heading(stdout, "Exit status");
	(void)printf("%*s", INDENT, "");
	print_lines(stdout, c->exits != NULL ? c->exits : usual_exits, INDENT);
}

void tp_help_overview(FILE *to)
{
	(void)fprintf(to,
		      "Turnpike is a reverse proxy for LLM traffic that makes retrying safe.\n\n"
		      "%sUsage:%s turnpike COMMAND [OPTIONS]\n",
		      tp_style(to, TP_STYLE_BOLD), tp_style(to, TP_STYLE_END));
	heading(to, "Commands");
	for (size_t i = 0; i < tp_n_commands; i++)
		if (tp_commands[i].does != NULL)
			(void)fprintf(to, "%*s%s%-11s%s %s\n", INDENT, "", tp_style(to, TP_STYLE_NAME),
				      tp_commands[i].name, tp_style(to, TP_STYLE_END), tp_commands[i].does);
	(void)fprintf(to, "\n\"turnpike COMMAND --help\" tells more, also what the exit status means.\n");
}
