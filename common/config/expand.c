#include "common/config/expand.h"

#include <errno.h>
#include <stdlib.h>

#include "common/config/files.h"

static bool is_name(struct tp_str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return s.n > 0;
}

static bool put_variable(struct tp_str name, struct tp_buf *out, struct tp_buf *reason)
{
	struct tp_buf copy = {0};
	tp_buf_add_str(&copy, name);
	const char *terminated = tp_buf_cstr(&copy);
	const char *value = terminated != NULL ? getenv(terminated) : NULL;
	tp_buf_free(&copy);
	if (value == NULL) {
		tp_buf_printf(reason, "environment variable `%.*s` is not set", (int)name.n, name.p);
		return false;
	}
	tp_buf_add(out, value, strlen(value));
	return true;
}

/* Editors and `echo` end a file with a newline that is no part of the key. */
static void cut_newline(struct tp_buf *out, size_t start)
{
	if (out->len > start && out->data[out->len - 1] == '\n')
		out->len--;
	if (out->len > start && out->data[out->len - 1] == '\r')
		out->len--;
}

static bool put_file(struct tp_str path, struct tp_buf *out, struct tp_buf *reason)
{
	if (path.n == 0 || path.p[0] != '/') {
		tp_buf_printf(reason, "`${file:%.*s}` needs an absolute path", (int)path.n, path.p);
		return false;
	}
	struct tp_buf copy = {0};
	tp_buf_add_str(&copy, path);
	const char *terminated = tp_buf_cstr(&copy);
	size_t start = out->len;
	int error = terminated != NULL ? tp_files_read(terminated, TP_EXPAND_FILE_MAX, false, out) : ENOMEM;
	tp_buf_free(&copy);
	if (error != 0) {
		tp_buf_printf(reason, "file `%.*s` cannot be used: %s", (int)path.n, path.p,
			      error == EINVAL ? "not a regular file" : strerror(error));
		return false;
	}
	cut_newline(out, start);
	return true;
}

/* `inside` is what stands between the braces. */
static bool put(struct tp_str inside, struct tp_buf *out, struct tp_buf *reason)
{
	struct tp_str file = TP_STR("file:");
	if (tp_str_starts(inside, file))
		return put_file((struct tp_str){inside.p + file.n, inside.n - file.n}, out, reason);
	if (is_name(inside))
		return put_variable(inside, out, reason);
	tp_buf_printf(reason, "`${%.*s}` is neither ${NAME} nor ${file:/path}; $${ stands for a plain ${",
		      (int)inside.n, inside.p);
	return false;
}

bool tp_expand(struct tp_str raw, struct tp_buf *out, struct tp_buf *reason)
{
	size_t at = 0;
	while (at < raw.n) {
		struct tp_str rest = {raw.p + at, raw.n - at};
		if (tp_str_starts(rest, TP_STR("$${"))) {
			tp_buf_add(out, "${", 2);
			at += 3;
			continue;
		}
		if (!tp_str_starts(rest, TP_STR("${"))) {
			tp_buf_add(out, rest.p, 1);
			at++;
			continue;
		}
		const char *end = memchr(rest.p, '}', rest.n);
		if (end == NULL) {
			tp_buf_printf(reason, "`${` has no closing brace; $${ stands for a plain ${");
			return false;
		}
		if (!put((struct tp_str){rest.p + 2, (size_t)(end - rest.p) - 2}, out, reason))
			return false;
		at += (size_t)(end - rest.p) + 1;
	}
	return true;
}
