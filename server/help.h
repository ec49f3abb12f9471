/* What the command line says about itself, on standard output; headings stand out on a terminal. */
#ifndef TP_SERVER_HELP_H
#define TP_SERVER_HELP_H

#include <stdio.h>

#include "server/commands.h"

/* Usage, options, exit status of one command: `turnpike NAME --help`. */
void tp_help_command(const struct tp_command *c);
/* All commands. */
void tp_help_overview(FILE *to);

#endif
