#include "common/http/chunked.h"

#include "common/http/chars.h"

enum {
	DIGITS_MAX = 16,
	/* Extensions and trailers are no data: this much, and a share of the data, is borne.
	 * (Signed uploads carry some 90 bytes with each chunk of 8 KiB or more.) */
	OVERHEAD_FREE = 16384,
	OVERHEAD_SHARE = 16,
};

/* SIZE is zero: a zeroed struct begins with it. */
enum state {
	SIZE,      /* digits of a chunk size */
	EXTENSION, /* behind ';', to the line end */
	SIZE_LF,   /* '\r' of the size line was used */
	DATA,
	DATA_END, /* the line end behind the data */
	DATA_LF,
	TRAILER_START, /* first byte of a trailer line or of the last line */
	TRAILER_NAME,
	TRAILER_VALUE,
	TRAILER_LF,
	LAST_LF,
	DONE,
	BROKEN,
	TOO_LARGE,
};

static enum state stop_at_overhead(struct tp_chunked *c, enum state next)
{
	if (c->overhead < UINT32_MAX)
		c->overhead++;
	return c->overhead > OVERHEAD_FREE + c->total / OVERHEAD_SHARE ? BROKEN : next;
}

/* Behind a complete size line. */
static enum state chunk_begins(struct tp_chunked *c, uint64_t limit)
{
	c->digits = 0;
	if (c->left == 0)
		return TRAILER_START;
	return c->total > limit || c->left > limit - c->total ? TOO_LARGE : DATA;
}

static enum state size_digit(struct tp_chunked *c, char byte)
{
	if (c->digits == DIGITS_MAX)
		return BROKEN;
	c->digits++;
	c->left = c->left << 4 | tp_char_hex(byte);
	return SIZE;
}

static enum state in_size(struct tp_chunked *c, char byte, uint64_t limit)
{
	if (tp_char_is(byte, TP_CHAR_HEX))
		return size_digit(c, byte);
	if (c->digits == 0)
		return BROKEN;
	if (byte == '\r')
		return SIZE_LF;
	if (byte == '\n' && c->lenient)
		return chunk_begins(c, limit);
	return byte == ';' ? stop_at_overhead(c, EXTENSION) : BROKEN;
}

static enum state in_extension(struct tp_chunked *c, char byte, uint64_t limit)
{
	if (tp_char_is(byte, TP_CHAR_VALUE))
		return stop_at_overhead(c, EXTENSION);
	if (byte == '\r')
		return SIZE_LF;
	return byte == '\n' && c->lenient ? chunk_begins(c, limit) : BROKEN;
}

static enum state in_trailer(struct tp_chunked *c, char byte)
{
	bool name = c->state != TRAILER_VALUE, start = c->state == TRAILER_START;
	if (tp_char_is(byte, name ? TP_CHAR_TOKEN : TP_CHAR_VALUE))
		return stop_at_overhead(c, name ? TRAILER_NAME : TRAILER_VALUE);
	if (byte == ':' && c->state == TRAILER_NAME)
		return stop_at_overhead(c, TRAILER_VALUE);
	if (c->state == TRAILER_NAME)
		return BROKEN;
	if (byte == '\r')
		return start ? LAST_LF : TRAILER_LF;
	if (byte == '\n' && c->lenient)
		return start ? DONE : TRAILER_START;
	return BROKEN;
}

/* The state behind one byte of framing. */
static enum state framing_byte(struct tp_chunked *c, char byte, uint64_t limit)
{
	bool lf = byte == '\n';
	switch ((enum state)c->state) {
	case SIZE: return in_size(c, byte, limit);
	case EXTENSION: return in_extension(c, byte, limit);
	case SIZE_LF: return lf ? chunk_begins(c, limit) : BROKEN;
	case DATA_END: return byte == '\r' ? DATA_LF : lf && c->lenient ? SIZE : BROKEN;
	case DATA_LF: return lf ? SIZE : BROKEN;
	case TRAILER_START:
	case TRAILER_NAME:
	case TRAILER_VALUE: return in_trailer(c, byte);
	case TRAILER_LF: return lf ? TRAILER_START : BROKEN;
	case LAST_LF: return lf ? DONE : BROKEN;
	case DATA:
	case DONE:
	case BROKEN:
	case TOO_LARGE: break; /* not reached: tp_chunked_feed() stops at these */
	}
	return BROKEN;
}

/*
 * What nearly all framing is, at once: the line end behind a chunk, and a size line without an extension,
 * each only when it lies in sight whole.  Returns the bytes used; the states above go on behind them.
 */
static size_t plain_framing(struct tp_chunked *c, const char *bytes, size_t n, uint64_t limit)
{
	size_t at = 0;
	if (c->state == DATA_END && n >= 2 && bytes[0] == '\r' && bytes[1] == '\n') {
		c->state = SIZE;
		at = 2;
	}
	if (c->state != SIZE || c->digits > 0)
		return at;
	uint64_t size = 0;
	size_t i = at, most = n - at < DIGITS_MAX ? n : at + DIGITS_MAX;
	while (i < most && tp_char_is(bytes[i], TP_CHAR_HEX))
		size = size << 4 | tp_char_hex(bytes[i++]);
	if (i == at || n - i < 2 || bytes[i] != '\r' || bytes[i + 1] != '\n')
		return at;
	c->left = size;
	c->state = (uint8_t)chunk_begins(c, limit);
	return i + 2;
}

enum tp_chunked_result tp_chunked_feed(struct tp_chunked *c, const char *bytes, size_t n, uint64_t limit,
				       size_t *ret_used, const char **ret_data, size_t *ret_n)
{
	size_t used = c->state == SIZE || c->state == DATA_END ? plain_framing(c, bytes, n, limit) : 0;
	while (used < n && c->state != DATA && c->state < DONE)
		c->state = (uint8_t)framing_byte(c, bytes[used++], limit);
	*ret_used = used;
	if (c->state == DONE)
		return TP_CHUNKED_DONE;
	if (c->state == BROKEN)
		return TP_CHUNKED_BAD;
	if (c->state == TOO_LARGE)
		return TP_CHUNKED_LARGE;
	if (used == n)
		return TP_CHUNKED_MORE;

	size_t piece = n - used < c->left ? n - used : (size_t)c->left;
	*ret_data = bytes + used;
	*ret_n = piece;
	*ret_used = used + piece;
	c->left -= piece;
	c->total += piece;
	if (c->left == 0)
		c->state = DATA_END;
	return TP_CHUNKED_DATA;
}

size_t tp_chunk_line(char out[18], size_t n)
{
	static const char hex[] = "0123456789abcdef";
	int shift = 0;
	while (shift < 60 && n >> (shift + 4) != 0)
		shift += 4;
	size_t len = 0;
	for (; shift >= 0; shift -= 4)
		out[len++] = hex[n >> shift & 15];
	out[len++] = '\r';
	out[len++] = '\n';
	return len;
}
