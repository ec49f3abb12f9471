/*
 * `turnpike simulate`: a fake provider in the same binary, for demos and tests.  It speaks Chat
 * Completions, Responses and Messages, and fails as the model name or a header tells it to
 * (docs/simulate.md).
 */
#ifndef TP_SIMULATE_SIMULATE_H
#define TP_SIMULATE_SIMULATE_H

#define TP_SIMULATE_LISTEN "127.0.0.1:9099"

/* How a request asks for faults: for the help of the command (tp_cmd_simulate() of server/commands.h). */
extern const char tp_simulate_scripts[];

#endif
