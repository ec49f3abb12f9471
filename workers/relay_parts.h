/*
 * Between the files of the relay, for no others:
 *
 *   relay.c         an answer begins; commit, cut, end
 *   relay_saved.c   an answer is kept, and shown in the end
 *   relay_json.c    JSON: held, and what a committed one is watched for
 *   relay_stream.c  event streams: the prelude, and what comes behind it
 *   relay_out.c     bytes towards the client
 *
 * All work on turn->relay and turn->saved. Each may end the turn or start its next attempt, unless it says
 * otherwise, and is the caller's last step.
 */
#ifndef TP_WORKERS_RELAY_PARTS_H
#define TP_WORKERS_RELAY_PARTS_H

#include "workers/relay.h"

/* ---- relay.c */

/* From here on no other send can serve the turn: what was kept for one is freed. Ends nothing. */
void tp_relay_commit(struct tp_turn *t);
/* The same for an answer of which something is held, which goes out now. */
void tp_relay_commit_held(struct tp_turn *t);
/* The answer is out, whole, or as whole as the provider meant it. */
void tp_relay_finish(struct tp_turn *t);
/* timeouts.token runs from output to output; comments and pings do not count. Ends nothing. */
void tp_relay_output_seen(struct tp_turn *t);
/* What came under a 2xx cannot serve. */
void tp_relay_no_answer(struct tp_turn *t, enum tp_cause cause, const char *why);
/* Heartbeats have promised the client a stream, and this is none. */
void tp_relay_no_stream(struct tp_turn *t);

/* ---- relay_saved.c */

/* Keeps the head of a 200 that is being delivered, for tp_relay_carries_error(): what was saved before stands
 * until then. False when out of memory. Ends nothing. */
bool tp_relay_keep(struct tp_turn *t, const struct tp_answer_piece *p);
/* An error status (or what stands for it): its body is gathered, for at most 5 s and 64 KiB. */
void tp_relay_collect_begin(struct tp_turn *t, const struct tp_answer_piece *p, int status);
void tp_relay_collect(struct tp_turn *t, const struct tp_answer_piece *p);
/* What there is of the body is enough to decide; `cut`: it is not all. */
void tp_relay_collected(struct tp_turn *t, bool cut);
/* The 200 that was kept carries an error: from here on it is saved, as the status it stands for. `error` is
 * copied. */
void tp_relay_carries_error(struct tp_turn *t, const struct tp_answer_error *error);

/* ---- relay_json.c */

/* A piece of a JSON answer that is held back; the last one judges it. */
void tp_relay_hold(struct tp_turn *t, const struct tp_answer_piece *p);
/* The body is complete: an answer, an error, or nothing of use. `p`: the piece that ended it. */
void tp_relay_judge(struct tp_turn *t, struct tp_str body, const struct tp_answer_piece *p);
/* Before the commit of what is held: if only the end of the connection tells where it ends, it is read along,
 * to know a whole one from one that was cut. Ends nothing. */
void tp_relay_watch_json(struct tp_turn *t);
/* A piece of one that is committed. */
void tp_relay_flow_json(struct tp_turn *t, const struct tp_answer_piece *p);

/* ---- relay_stream.c */

/* A piece of a stream: before its first output, and after the commit. */
void tp_relay_prelude(struct tp_turn *t, const struct tp_answer_piece *p);
void tp_relay_flow_stream(struct tp_turn *t, const struct tp_answer_piece *p);
/* What was held as JSON is a stream: it is taken as one, from its first byte on. `p`: the piece that told; it
 * is in what is held, or whole in itself. */
void tp_relay_stream_after_all(struct tp_turn *t, const struct tp_answer_piece *p);

/* ---- relay_out.c */

/* How the body of this answer is delimited for the client. */
enum tp_answer_framing tp_relay_framing(const struct tp_turn *t, const struct tp_head *h);
/* The client's head, to go out with the first bytes. Ends nothing. */
void tp_relay_render_head(struct tp_turn *t, const struct tp_answer_piece *p);
/*
 * Writes one piece of body, framed, with the head in front if it still waits.  The piece goes out as it came,
 * in one system call.  False when the turn is over (the client is gone).
 */
bool tp_relay_emit(struct tp_turn *t, const char *data, size_t n, bool end);

#endif
