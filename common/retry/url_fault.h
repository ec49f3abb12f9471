/*
 * What the end of an attempt says about the URL it went to (design 3.2).  Pure.
 */
#ifndef TP_RETRY_URL_FAULT_H
#define TP_RETRY_URL_FAULT_H

#include "common/retry/model.h"

enum tp_url_fault {
	TP_URL_FAULT_NONE,      /* no evidence: 4xx and 429, the client, Turnpike, a kept connection */
	TP_URL_FAULT_ANSWER,    /* it can be reached, and fails: 5xx, silence, an answer cut short */
	TP_URL_FAULT_CONNECTION /* nobody there: all URLs below the same base are concerned */
};
/* `status` counts with TP_CAUSE_ANSWER only. */
enum tp_url_fault tp_url_fault_of(enum tp_cause cause, enum tp_stage stage, int status);

#endif
