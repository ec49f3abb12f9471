/* JSON on standard output: as it is, or as lines for people. */
#ifndef TP_SERVER_SHOW_H
#define TP_SERVER_SHOW_H

#include <jansson.h>

void tp_show_json(json_t *value);
/* A line for each number or text: "histograms.turnpike_wait_seconds.p50   0.25". A list: its length, then one
 * line for each entry. `name` goes before all names; "" = nothing. */
void tp_show_lines(const char *name, json_t *value);

#endif
