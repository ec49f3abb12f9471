/*
 * `turnpike simulate`: a fake provider in the same binary, for demos and tests.  It speaks Chat
 * Completions, Responses and Messages, and fails as the model name or a header tells it to
 * (docs/simulate.md).
 */
#ifndef TP_SIMULATE_SIMULATE_H
#define TP_SIMULATE_SIMULATE_H

/* argv[0] is "simulate". Runs until TERM or INT. Returns the exit status: 0, 1 (cannot listen), 2 (usage). */
int tp_cmd_simulate(int argc, char **argv);

#endif
