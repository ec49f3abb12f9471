/* Character classes of HTTP/1.1, one table for all parsers of this folder. */
#ifndef TP_HTTP_CHARS_H
#define TP_HTTP_CHARS_H

#include <stdbool.h>
#include <stdint.h>

enum tp_char_class {
	TP_CHAR_TOKEN = 1,  /* RFC 9110 section 5.6.2: methods, field names, codings */
	TP_CHAR_VALUE = 2,  /* field values, reason phrases: blank, tab, visible, 0x80-0xff */
	TP_CHAR_TARGET = 4, /* visible ASCII without '#': what clients really send in a target */
	TP_CHAR_HOST = 8,   /* RFC 3986 reg-name without ',', which joins two Host values */
	TP_CHAR_DIGIT = 16,
	TP_CHAR_HEX = 32,
};

extern const uint8_t tp_char_classes[256];

/* `classes`: one or more of enum tp_char_class; true if c is in any of them. */
static inline bool tp_char_is(char c, unsigned classes)
{
	return (tp_char_classes[(unsigned char)c] & classes) != 0;
}

/* First byte in [p, end) that is not in `classes`; end if there is none. */
static inline const char *tp_char_skip(const char *p, const char *end, unsigned classes)
{
	while (p < end && tp_char_is(*p, classes))
		p++;
	return p;
}

/* Value of a hex digit; c must be TP_CHAR_HEX. */
static inline unsigned tp_char_hex(char c)
{
	unsigned u = (unsigned char)c;
	return u <= '9' ? u - '0' : (u | 0x20) - 'a' + 10;
}

#endif
