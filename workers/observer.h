/*
 * What a worker tells whoever runs it for one request or one question, without a server around it (turnpike
 * post, turnpike check --connect).  A server has no observer; nothing is measured or kept for one.
 */
#ifndef TP_WORKERS_OBSERVER_H
#define TP_WORKERS_OBSERVER_H

#include <stdbool.h>
#include <stdint.h>

enum tp_notice_kind {
	TP_NOTICE_SEND,   /* a send begins */
	TP_NOTICE_WAIT,   /* the turn waits before its next send */
	TP_NOTICE_CHECKED /* a provider was asked at start */
};

struct tp_notice {
	uint8_t kind;     /* enum tp_notice_kind */
	bool good;        /* CHECKED */
	uint16_t status;  /* WAIT: what the provider answered; 0 = nothing */
	uint32_t wait_ms; /* WAIT */
	uint32_t send;    /* SEND, WAIT: number of the present or next send, from 1 */
	uint32_t most;    /* WAIT: sends it can come to if this goes on */
	char provider[64];
	char words[128]; /* WAIT, CHECKED: why, in plain words; may be "" */
};

struct tp_observer {
	void (*tell)(void *arg, const struct tp_notice *n); /* must not block for long */
	void *arg;
};

#endif
