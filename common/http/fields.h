/* Known field names to enum tp_field_id. */
#ifndef TP_HTTP_FIELDS_H
#define TP_HTTP_FIELDS_H

#include <stddef.h>

#include "common/http/head.h"

/* `name`: n token characters, any case. TP_FIELD_OTHER when unknown. */
enum tp_field_id tp_field_lookup(const char *name, size_t n);

#ifdef __SSE2__
/* The same for n from 1 to 31 letters, digits and '-', where at least 32 bytes may be read at `name`. */
enum tp_field_id tp_field_lookup_wide(const char *name, size_t n);
#endif

#endif
