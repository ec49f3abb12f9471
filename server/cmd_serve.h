/* turnpike serve: the server, in the foreground. */
#ifndef TP_SERVER_CMD_SERVE_H
#define TP_SERVER_CMD_SERVE_H

/* Arguments begin with the command's own name. Returns the exit status: 0, 1 (configuration or start), 2
 * (usage). */
int tp_cmd_serve(int argc, char **argv);

#endif
