/* JSON on standard output: as it is, or as lines for people. */
#ifndef TP_SERVER_SHOW_H
#define TP_SERVER_SHOW_H

#include <jansson.h>

#include "common/base/buf.h"

/* Indented, with a line end; the value is only read. */
void tp_show_json(json_t *value);
/* A line for each number or text: "histograms.turnpike_wait_seconds.p50   0.25". A list: its length, then one
 * line for each entry. `name` goes before all names; "" = nothing. */
void tp_show_lines(const char *name, json_t *value);
/* A row of tp_listing_blacklist(), of tp_listing_cooldowns(): a sentence, without a line end. */
void tp_show_listed(const json_t *row, struct tp_buf *line);
void tp_show_cooling(const json_t *row, struct tp_buf *line);

#endif
