/*
 * Error codes of providers that are kept in the ledger as a small number, so that a re-send of a request that
 * failed for good can be answered from memory in the provider's own word (design section 3.1).
 */
#ifndef TP_RETRY_KNOWN_CODES_H
#define TP_RETRY_KNOWN_CODES_H

#include <stdint.h>

/* 0 = not known. The numbers live in shared memory: append, never reorder. */
uint16_t tp_known_code_index(const char *code);
/* The code of an index; "upstream_error" for 0 and for what is out of range. */
const char *tp_known_code(uint16_t index);

#endif
