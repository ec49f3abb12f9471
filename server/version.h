/* What this binary is: its version, the libraries it runs with, how it was built (design section 11). */
#ifndef TP_SERVER_VERSION_H
#define TP_SERVER_VERSION_H

/* turnpike version: on standard output. The first line is "turnpike VERSION" alone, for scripts. */
int tp_cmd_version(int argc, char **argv);

#endif
