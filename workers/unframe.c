#include "workers/unframe.h"

#include <string.h>

void tp_unframe_begin(struct tp_unframe *u, const struct tp_head *head)
{
	*u = (struct tp_unframe){
		.framing = head->framing, .left = head->content_length, .chunked = {.lenient = true}};
}

/* Chunks are joined in place: the pieces move together, each over the framing in front of it. */
static bool unchunk(struct tp_unframe *u, char **data, size_t *n, bool *end)
{
	char *from = *data, *to = NULL;
	size_t joined = 0, at = 0;
	for (;;) {
		size_t used = 0, piece_n = 0;
		const char *piece = NULL;
		enum tp_chunked_result r =
			tp_chunked_feed(&u->chunked, from + at, *n - at, UINT64_MAX, &used, &piece, &piece_n);
		at += used;
		if (r == TP_CHUNKED_DATA) {
			if (to == NULL)
				to = from + (piece - from);
			else
				memmove(to + joined, piece, piece_n);
			joined += piece_n;
			continue;
		}
		*end = r == TP_CHUNKED_DONE;
		u->excess = *end && at < *n;
		*data = to != NULL ? to : from;
		*n = joined;
		return r == TP_CHUNKED_MORE || r == TP_CHUNKED_DONE;
	}
}

bool tp_unframe(struct tp_unframe *u, char **data, size_t *n, bool *end)
{
	switch (u->framing) {
	case TP_FRAMING_NONE:
		u->excess = *n > 0;
		*n = 0;
		*end = true;
		return true;
	case TP_FRAMING_LENGTH:
		if (*n > u->left) {
			u->excess = true;
			*n = (size_t)u->left;
		}
		u->left -= *n;
		*end = u->left == 0;
		return true;
	case TP_FRAMING_CHUNKED: return unchunk(u, data, n, end);
	default: return true; /* until the connection ends */
	}
}
