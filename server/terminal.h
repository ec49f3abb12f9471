/* Terminals: whether there is one, how large it is, and the few sequences that are used. */
#ifndef TP_SERVER_TERMINAL_H
#define TP_SERVER_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum tp_style_id { TP_STYLE_END, TP_STYLE_BOLD, TP_STYLE_DIM, TP_STYLE_NAME, TP_STYLE_GOOD, TP_STYLE_BAD };

/* The stream is a terminal that takes sequences (TERM is not "dumb"). */
bool tp_terminal(FILE *stream);
/* The sequence, or "" where there is no terminal or NO_COLOR is set. Static. */
const char *tp_style(FILE *stream, enum tp_style_id style);
/* Columns and rows; 80 x 24 where they cannot be asked. */
void tp_terminal_size(FILE *stream, int *ret_columns, int *ret_rows);

#endif
