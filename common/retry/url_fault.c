#include "common/retry/url_fault.h"

enum tp_url_fault tp_url_fault_of(enum tp_cause cause, enum tp_stage stage, int status)
{
	switch (cause) {
	case TP_CAUSE_ANSWER: return status >= 500 ? TP_URL_FAULT_ANSWER : TP_URL_FAULT_NONE;
	case TP_CAUSE_REFUSED:
	case TP_CAUSE_CONNECT_TIMEOUT:
	case TP_CAUSE_DNS:
	case TP_CAUSE_TLS: return TP_URL_FAULT_CONNECTION;
	case TP_CAUSE_RESET:
	case TP_CAUSE_CLOSED:
	case TP_CAUSE_BROKEN_HEAD:
		/* Behind an answer's head the base has proved that it can be reached. */
		return stage >= TP_STAGE_HEAD ? TP_URL_FAULT_ANSWER : TP_URL_FAULT_CONNECTION;
	case TP_CAUSE_FIRST_BYTE_TIMEOUT:
	case TP_CAUSE_TRUNCATED:
	case TP_CAUSE_STALLED: return TP_URL_FAULT_ANSWER;
	case TP_CAUSE_POOL_CLOSED:
	case TP_CAUSE_INVALID:
	case TP_CAUSE_LOCAL:
	case TP_CAUSE_CLIENT_GONE:
	case TP_CAUSE_COUNT: break;
	}
	return TP_URL_FAULT_NONE;
}
