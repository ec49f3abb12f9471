/* The commands of the command line that have a file of their own. argv[0] is the command's name; the result
 * is the exit status: 0 good, 1 the command found or met a problem, 2 the command line is wrong. */
#ifndef TP_SERVER_COMMANDS_H
#define TP_SERVER_COMMANDS_H

/* turnpike check [-c FILE]: tells every mistake of a configuration on standard error. */
int tp_cmd_check(int argc, char **argv);
/* turnpike config --defaults | --effective [-c FILE] | --schema | --markdown | --man: on standard output. */
int tp_cmd_config(int argc, char **argv);
/* turnpike reload [-c FILE]: has a running server take over its changed configuration. */
int tp_cmd_reload(int argc, char **argv);
/* turnpike blacklist [list | clear [URL]], turnpike cooldown [list | clear]: what gets no requests for now.
 */
int tp_cmd_blacklist(int argc, char **argv);
int tp_cmd_cooldown(int argc, char **argv);

#endif
