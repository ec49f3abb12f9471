/*
 * Keys of the session tickets that listeners give out.  The master draws a secret before it forks; every
 * process derives the same keys from it and the time, so that a ticket of one worker is good at all others,
 * of every generation, without a word between them.  Nothing of it is ever written down.
 *
 * Each half day the secret is replaced by a hash of itself and the keys by those of the new one; the keys
 * before stay good for tickets that are out.  What is older cannot be derived any more, by us or by whoever
 * reads our memory then.
 */
#ifndef TP_BASE_TICKET_KEYS_H
#define TP_BASE_TICKET_KEYS_H

#include <stdbool.h>
#include <stdint.h>

struct tp_ticket_key {
	unsigned char name[16]; /* travels inside the ticket */
	unsigned char cipher[32];
	unsigned char mac[32];
};

enum { TP_TICKET_PERIOD_MS = 12 * 60 * 60 * 1000 };

/* Draws the secret; once, before processes are forked that are to share it.  `now_ms`: tp_clock_boot_ms(),
 * here and below.  False: the system gave no random bytes. */
bool tp_ticket_keys_begin(uint64_t now_ms);
/* Leaves secrets behind whose time is over. Those who use keys need not call it. */
void tp_ticket_keys_advance(uint64_t now_ms);
/* For new tickets.  NULL before tp_ticket_keys_begin(); valid until the next call. */
const struct tp_ticket_key *tp_ticket_keys_newest(uint64_t now_ms);
/* The key of this name, or NULL: not ours, or too old.  `ret_newest`: new tickets are made with it. */
const struct tp_ticket_key *tp_ticket_keys_find(const unsigned char name[16], uint64_t now_ms,
						bool *ret_newest);

#endif
