/* A few bytes looked for in many. */
#ifndef TP_BASE_FIND_H
#define TP_BASE_FIND_H

#include "common/base/str.h"

/*
 * The first place of `needle` in `bytes`, NULL when it is not there.  For needles of 2 to 16 bytes whose last
 * two are seldom beside each other: only where these stand is the rest compared.
 */
const char *tp_find(struct tp_str bytes, struct tp_str needle);

#endif
