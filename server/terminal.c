#include "server/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool tp_terminal(FILE *stream)
{
	const char *term = getenv("TERM");
	return isatty(fileno(stream)) == 1 && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

const char *tp_style(FILE *stream, enum tp_style_id style)
{
	static const char *const sequences[] = {
		[TP_STYLE_END] = "\033[0m",   [TP_STYLE_BOLD] = "\033[1m",  [TP_STYLE_DIM] = "\033[2m",
		[TP_STYLE_NAME] = "\033[36m", [TP_STYLE_GOOD] = "\033[32m", [TP_STYLE_BAD] = "\033[31m",
	};
	const char *no_color = getenv("NO_COLOR"); /* no-color.org: set and not empty */
	if ((no_color != NULL && no_color[0] != '\0') || !tp_terminal(stream))
		return "";
	return sequences[style];
}

void tp_terminal_size(FILE *stream, int *ret_columns, int *ret_rows)
{
	struct winsize size;
	bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
	*ret_columns = known ? size.ws_col : 80;
	*ret_rows = known ? size.ws_row : 24;
}
