#include "server/admin/page.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <stdio.h>

#include "common/base/buf.h"

/* The Makefile makes objects of the files as they are. */
#define FILE_OF(name)                                                                                        \
	extern const char _binary_server_admin_page_##name##_start[], _binary_server_admin_page_##name##_end[]
#define TEXT_OF(name)                                                                                        \
	((struct tp_str){_binary_server_admin_page_##name##_start,                                           \
			 (uintptr_t)_binary_server_admin_page_##name##_end -                                 \
				 (uintptr_t)_binary_server_admin_page_##name##_start})
FILE_OF(page_html);
FILE_OF(page_css);
FILE_OF(words_js);
FILE_OF(document_js);
FILE_OF(charts_js);
FILE_OF(page_js);

enum { HASH_SIZE = 32, HASH_TEXT = 45 /* base64, terminated */ };

static bool hash(struct tp_str text, char out[HASH_TEXT])
{
	unsigned char bytes[HASH_SIZE];
	unsigned n = 0;
	if (EVP_Digest(text.p, text.n, bytes, &n, EVP_sha256(), NULL) != 1 || n != HASH_SIZE)
		return false;
	(void)EVP_EncodeBlock((unsigned char *)out, bytes, HASH_SIZE);
	return true;
}

/* Adds `frame` up to the mark, then `text`; returns what is behind the mark. */
static struct tp_str fill(struct tp_buf *out, struct tp_str frame, const char *mark, struct tp_str text)
{
	const char *at = memmem(frame.p, frame.n, mark, strlen(mark));
	if (at == NULL) {
		out->failed = true;
		return frame;
	}
	size_t before = (size_t)(at - frame.p), used = before + strlen(mark);
	tp_buf_add(out, frame.p, before);
	tp_buf_add_str(out, text);
	return (struct tp_str){frame.p + used, frame.n - used};
}

/* One script out of several files: they share their names. */
static void join_script(struct tp_buf *out)
{
	const struct tp_str parts[] = {TEXT_OF(words_js), TEXT_OF(document_js), TEXT_OF(charts_js),
				       TEXT_OF(page_js)};
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		tp_buf_add_str(out, parts[i]);
}

static struct tp_buf html;
static char fields[512], etag[HASH_TEXT + 2];

static bool assemble(struct tp_str code)
{
	char style[HASH_TEXT], script[HASH_TEXT], whole[HASH_TEXT];
	struct tp_str rest = fill(&html, TEXT_OF(page_html), "@style@", TEXT_OF(page_css));
	rest = fill(&html, rest, "@script@", code);
	tp_buf_add_str(&html, rest);
	if (html.failed || !hash(TEXT_OF(page_css), style) || !hash(code, script) ||
	    !hash(tp_buf_str(&html), whole))
		return false;
	(void)snprintf(etag, sizeof etag, "\"%s\"", whole);
	int n = snprintf(fields, sizeof fields,
			 "Cache-Control: no-cache\r\nETag: %s\r\nReferrer-Policy: no-referrer\r\n"
			 "Content-Security-Policy: default-src 'none'; img-src data:; style-src 'sha256-%s'; "
			 "script-src 'sha256-%s'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
			 "frame-ancestors 'none'; require-trusted-types-for 'script'\r\n",
			 etag, style, script);
	return n > 0 && (size_t)n < sizeof fields;
}

const struct tp_page *tp_page_get(void)
{
	static struct tp_page page;
	if (page.html.n > 0)
		return &page;
	struct tp_buf script = {0};
	tp_buf_free(&html);
	join_script(&script);
	bool whole = !script.failed && assemble(tp_buf_str(&script));
	tp_buf_free(&script);
	if (!whole)
		return NULL;
	page = (struct tp_page){.html = tp_buf_str(&html), .etag = tp_str_from(etag), .fields = fields};
	return &page;
}
