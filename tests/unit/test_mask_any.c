/* Masking whatever comes: JSON stays JSON, a known secret is found in any spelling, in no more time than it
 * has to take. */
#include "common/http/mask.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/unit/suite.h"

/* ---- whatever the JSON, it stays JSON of the same shape */

static uint64_t state;

static unsigned roll(unsigned sides)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % sides;
}

static void add_char(struct tp_buf *out, char c)
{
	switch (roll(4)) {
	case 0: tp_buf_printf(out, "\\u%04x", (unsigned char)c); break;
	case 1: tp_buf_printf(out, "%%%02X", (unsigned char)c); break;
	default: tp_buf_add_json(out, (struct tp_str){&c, 1}); break;
	}
}

static void add_string(struct tp_buf *out)
{
	static const char *const bits[] = {"api_key",
					   "=",
					   ": ",
					   "sk-abcdef0123",
					   "\\",
					   "\"",
					   "C:\\Users\\a",
					   " ",
					   "/home/",
					   "x",
					   "Bearer ",
					   "://u:p@h",
					   "***",
					   "token",
					   "&",
					   "'",
					   "hunter2hunter2",
					   "\n",
					   "eyJhbGci.eyJzdWIi",
					   "%",
					   "cookie",
					   "\xc3\xa9",
					   "password",
					   "u0022"};
	tp_buf_add(out, "\"", 1);
	for (unsigned n = roll(6); n > 0; n--) {
		const char *bit = bits[roll(sizeof bits / sizeof *bits)];
		bool encode = roll(3) == 0 && (unsigned char)bit[0] < 0x80;
		for (size_t i = 0; encode && bit[i] != '\0'; i++)
			add_char(out, bit[i]);
		if (!encode)
			tp_buf_add_json(out, tp_str_from(bit));
	}
	tp_buf_add(out, "\"", 1);
}

static void add_value(struct tp_buf *out, unsigned depth)
{
	unsigned what = roll(depth < 5 ? 6 : 3), n = roll(4);
	switch (what) {
	case 0: tp_buf_printf(out, "%u%06u", roll(100000) + 1, roll(1000000)); break;
	case 1: tp_buf_add_str(out, roll(2) == 0 ? TP_STR("null") : TP_STR("-1.5e3")); break;
	case 2: add_string(out); break;
	default:
		tp_buf_add(out, what == 3 ? "[" : "{", 1);
		for (unsigned i = 0; i < n; i++) {
			if (i > 0)
				tp_buf_add(out, ", ", 2);
			if (what != 3) {
				add_string(out);
				tp_buf_add(out, ":", 1);
			}
			add_value(out, depth + 1);
		}
		tp_buf_add(out, what == 3 ? "]" : "}", 1);
		break;
	}
}

static void check_shape(const json_t *a, const json_t *b)
{
	ck_assert_int_eq(json_typeof(a), json_typeof(b));
	if (json_is_array(a)) {
		ck_assert_uint_eq(json_array_size(a), json_array_size(b));
		for (size_t i = 0; i < json_array_size(a); i++)
			check_shape(json_array_get(a, i), json_array_get(b, i));
	}
	/* names that were masked may have become the same: members are compared as far as they keep theirs */
	const char *key;
	json_t *value;
	json_object_foreach((json_t *)(uintptr_t)a, key, value)
	{
		const json_t *other = json_object_get(b, key);
		if (other != NULL && strstr(key, "***") == NULL)
			check_shape(value, other);
	}
}

START_TEST(json_stays_json)
{
	static const struct tp_str secret = {"hunter2hunter2", 14};
	const struct tp_mask_secrets mine = {&secret, 1, NULL};
	unsigned changed = 0;
	state = 1;
	for (unsigned round = 0; round < 20000; round++) {
		struct tp_buf in = {0}, out = {0};
		add_value(&in, 0);
		json_t *before = json_loadb(in.data, in.len, JSON_DECODE_ANY, NULL);
		ck_assert_msg(before != NULL, "%s", tp_buf_cstr(&in));
		if (tp_mask(tp_buf_str(&in), &mine, &out)) {
			json_t *after = json_loadb(out.data, out.len, JSON_DECODE_ANY, NULL);
			ck_assert_msg(after != NULL, "%s\nbecame\n%s", tp_buf_cstr(&in), tp_buf_cstr(&out));
			check_shape(before, after);
			ck_assert(strstr(tp_buf_cstr(&out), "hunter2hunter2") == NULL);
			json_decref(after);
			changed++;
		}
		json_decref(before);
		tp_buf_free(&in);
		tp_buf_free(&out);
	}
	ck_assert_uint_ge(changed, 5000);
}
END_TEST

/* ---- a known secret, however it is written */

START_TEST(any_spelling)
{
	static const char secret[] = "Zq7\"x\\y/w+v=u&t s%41;r";
	const struct tp_str text = {secret, sizeof secret - 1};
	const struct tp_mask_secrets mine = {&text, 1, NULL};
	state = 2;
	for (unsigned round = 0; round < 2000; round++) {
		struct tp_buf in = {0}, out = {0};
		/* A percent sign that is not written as an escape would itself begin one. */
		tp_buf_add_str(&in, TP_STR("{\"error\": {\"message\": \"you sent <"));
		bool percent = roll(2) == 0;
		for (size_t i = 0; i < text.n; i++) {
			if (percent && (roll(2) == 0 || text.p[i] == '%'))
				tp_buf_printf(&in, "%%%02x", (unsigned)text.p[i]);
			else if (roll(2) == 0)
				tp_buf_printf(&in, "\\u%04X", (unsigned)text.p[i]);
			else
				tp_buf_add_json(&in, (struct tp_str){text.p + i, 1});
		}
		tp_buf_add_str(&in, TP_STR(">\", \"code\": 1}}"));
		ck_assert_msg(tp_mask(tp_buf_str(&in), &mine, &out), "%s", tp_buf_cstr(&in));
		ck_assert_str_eq(tp_buf_cstr(&out),
				 "{\"error\": {\"message\": \"you sent <***>\", \"code\": 1}}");
		tp_buf_free(&in);
		tp_buf_free(&out);
	}
}
END_TEST

/* ---- time is linear in the text */

static const char *const hostile[] = {
	"sk-",
	"eyJ",
	"eyJ-",
	"eyJa.",
	"key=",
	"key=\\",
	"token=\"",
	"token: ",
	"a**",
	"***",
	"://",
	"://a@",
	"/usr/",
	"(/",
	"C:\\",
	"\\",
	"\\\\",
	"%25",
	"\\u005c",
	"\"",
	"'",
	"b'",
	"cookie: a=b;",
	"Authorization: ",
	"Bearer ",
	"projects/",
	"team ",
	"key provided: ",
	"-_.",
	"org-",
	"[[",
	"{\"a\":",
	"\"/home/ ",
	"key='x key=\"",
};

/* CPU seconds for so many bytes of it. */
static double cost(const char *unit, size_t bytes)
{
	char *text = malloc(bytes);
	size_t n = strlen(unit);
	ck_assert_ptr_nonnull(text);
	for (size_t i = 0; i < bytes; i++)
		text[i] = unit[i % n];
	struct tp_buf out = {0};
	clock_t before = clock();
	(void)tp_mask((struct tp_str){text, bytes}, NULL, &out);
	double took = (double)(clock() - before) / CLOCKS_PER_SEC;
	tp_buf_free(&out);
	free(text);
	return took;
}

/* Eight times the bytes cost about eight times as much, however slow the machine is; 64 times where anything
 * is quadratic. */
START_TEST(linear)
{
	enum { BYTES = 1024 * 1024, NOISE_MS = 10 };
	double few = cost(hostile[_i], BYTES / 8), many = cost(hostile[_i], BYTES);
	ck_assert_msg(many < 24 * (few + NOISE_MS / 1000.0),
		      "%s takes %.3f s, and %.3f s for eight times as much", hostile[_i], few, many);
}
END_TEST

TP_TESTS(mask_any)
{
	tcase_set_timeout(t, 120);
	tcase_add_test(t, json_stays_json);
	tcase_add_test(t, any_spelling);
	tcase_add_loop_test(t, linear, 0, sizeof hostile / sizeof *hostile);
}
