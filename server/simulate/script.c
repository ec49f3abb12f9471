#include "server/simulate/script.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/base/clock.h"
#include "common/http/date.h"
#include "server/simulate/value.h"

/* What a step has: decides which options make sense on it. */
enum trait {
	HAS_HEAD = 1,    /* a complete head goes out */
	HAS_OUTPUT = 2,  /* model output is made */
	HAS_MID = 4,     /* something happens in the middle of it */
	HAS_ERROR = 8,   /* an error with code, type and message goes out */
	HAS_STATUS = 16, /* the step is a status */
};

struct action {
	const char *name;
	uint8_t kind, how, where, traits;
	bool numbered; /* "name=N" */
};

static const struct action actions[] = {
	{"slow", TP_SIM_STATUS, 0, 0, HAS_HEAD | HAS_OUTPUT, false},
	{"reset", TP_SIM_BREAK, TP_SIM_RESET, TP_SIM_BEFORE_HEAD, 0, false},
	{"reset-in-head", TP_SIM_BREAK, TP_SIM_RESET, TP_SIM_IN_HEAD, 0, false},
	{"reset-after-head", TP_SIM_BREAK, TP_SIM_RESET, TP_SIM_AFTER_HEAD, HAS_HEAD, false},
	{"reset-mid", TP_SIM_BREAK, TP_SIM_RESET, TP_SIM_MID, HAS_HEAD | HAS_OUTPUT | HAS_MID, false},
	{"close", TP_SIM_BREAK, TP_SIM_CLOSE, TP_SIM_BEFORE_HEAD, 0, false},
	{"close-in-head", TP_SIM_BREAK, TP_SIM_CLOSE, TP_SIM_IN_HEAD, 0, false},
	{"close-after-head", TP_SIM_BREAK, TP_SIM_CLOSE, TP_SIM_AFTER_HEAD, HAS_HEAD, false},
	{"close-mid", TP_SIM_BREAK, TP_SIM_CLOSE, TP_SIM_MID, HAS_HEAD | HAS_OUTPUT | HAS_MID, false},
	{"stall", TP_SIM_BREAK, TP_SIM_STALL, TP_SIM_BEFORE_HEAD, 0, false},
	{"stall-in-head", TP_SIM_BREAK, TP_SIM_STALL, TP_SIM_IN_HEAD, 0, false},
	{"stall-after-head", TP_SIM_BREAK, TP_SIM_STALL, TP_SIM_AFTER_HEAD, HAS_HEAD, false},
	{"stall-mid", TP_SIM_BREAK, TP_SIM_STALL, TP_SIM_MID, HAS_HEAD | HAS_OUTPUT | HAS_MID, false},
	{"end-mid", TP_SIM_BREAK, TP_SIM_END, TP_SIM_MID, HAS_HEAD | HAS_OUTPUT | HAS_MID, false},
	{"truncate", TP_SIM_TRUNCATE, 0, 0, HAS_HEAD | HAS_OUTPUT, true},
	{"hold", TP_SIM_HOLD, 0, 0, HAS_HEAD | HAS_OUTPUT | HAS_MID, false},
	{"overload-200", TP_SIM_OVERLOAD, 0, 0, HAS_HEAD | HAS_ERROR, false},
	{"error-mid", TP_SIM_ERROR_MID, 0, 0, HAS_HEAD | HAS_OUTPUT | HAS_MID | HAS_ERROR, false},
	{"capacity", TP_SIM_CAPACITY, 0, 0, HAS_HEAD | HAS_OUTPUT, true},
};

/* One parse: where we are, for messages. */
struct parse {
	struct tp_sim_script *s;
	struct tp_sim_step *step;
	unsigned traits;
	char *error;
	size_t size;
};

static bool fail(struct parse *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct parse *p, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(p->error, p->size, format, ap);
	va_end(ap);
	return false;
}

#define SHOW(s) (int)((s).n < 80 ? (s).n : 80), (s).n > 0 ? (s).p : ""

/* Decodes `raw` into the script's own text. */
static bool keep(struct parse *p, struct tp_str raw, struct tp_str *ret)
{
	struct tp_sim_script *s = p->s;
	size_t n;

	if (!tp_sim_decode(raw, s->text + s->used, sizeof(s->text) - s->used, &n))
		return fail(p, "'%.*s' is not a value: %%XX codes a byte, control characters are refused",
			    SHOW(raw));
	*ret = (struct tp_str){s->text + s->used, n};
	s->used += n;
	return true;
}

static bool set_first(struct parse *p, struct tp_str v)
{
	return tp_sim_read_duration(v, &p->step->first_ms) ||
	       fail(p, "first=%.*s is not a duration such as 250ms or 1.5s", SHOW(v));
}

static bool set_every(struct parse *p, struct tp_str v)
{
	return tp_sim_read_duration(v, &p->step->every_ms) ||
	       fail(p, "every=%.*s is not a duration such as 250ms or 1.5s", SHOW(v));
}

static bool set_tokens(struct parse *p, struct tp_str v)
{
	return (tp_sim_read_number(v, 10000, &p->step->tokens) && p->step->tokens > 0) ||
	       fail(p, "tokens=%.*s is not a number from 1 to 10000", SHOW(v));
}

static bool set_after(struct parse *p, struct tp_str v)
{
	p->step->has_after = true;
	return tp_sim_read_number(v, 1000000, &p->step->after) ||
	       fail(p, "after=%.*s is not a number", SHOW(v));
}

static bool set_code(struct parse *p, struct tp_str v)
{
	return keep(p, v, &p->step->code);
}

static bool set_type(struct parse *p, struct tp_str v)
{
	return keep(p, v, &p->step->type);
}

static bool set_message(struct parse *p, struct tp_str v)
{
	return keep(p, v, &p->step->message);
}

static bool set_body(struct parse *p, struct tp_str v)
{
	static const char *const names[] = {"json", "html", "text", "empty"};

	for (uint8_t i = 0; i < 4; i++) {
		if (tp_str_eq(v, tp_str_from(names[i]))) {
			p->step->body = i;
			return true;
		}
	}
	return fail(p, "body=%.*s is none of json, html, text, empty", SHOW(v));
}

static bool is_header_name(struct tp_str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = (char)(name.p[i] | 0x20);

		if (!(c >= 'a' && c <= 'z') && !(name.p[i] >= '0' && name.p[i] <= '9') && name.p[i] != '-')
			return false;
	}
	/* these are the simulator's own: a second copy would break its framing */
	return name.n > 0 && !tp_str_ieq(name, TP_STR("content-length")) &&
	       !tp_str_ieq(name, TP_STR("transfer-encoding")) && !tp_str_ieq(name, TP_STR("connection"));
}

static bool set_header(struct parse *p, struct tp_str name, struct tp_str v)
{
	struct tp_sim_header *h = &p->step->headers[p->step->n_headers];

	if (p->step->n_headers == TP_SIM_HEADERS_MAX)
		return fail(p, "more than %d headers in one step", TP_SIM_HEADERS_MAX);
	if (!is_header_name(name))
		return fail(p, "'%.*s' is not a header that a script can set", SHOW(name));
	p->step->n_headers++;
	return keep(p, name, &h->name) && keep(p, v, &h->value);
}

/* Any text as it stands; "date+2s" becomes the HTTP date two seconds from now. */
static bool set_retry_after(struct parse *p, struct tp_str v)
{
	char date[TP_DATE_SIZE];
	uint32_t ms;

	if (!tp_str_starts(v, TP_STR("date+")))
		return set_header(p, TP_STR("retry-after"), v);
	if (!tp_sim_read_duration((struct tp_str){v.p + 5, v.n - 5}, &ms))
		return fail(p, "retry-after=%.*s: date+ goes with a duration such as 2s", SHOW(v));
	tp_date_format((tp_clock_wall_ms() + ms + 999) / 1000, date);
	return set_header(p, TP_STR("retry-after"), tp_str_from(date));
}

static bool set_retry_after_ms(struct parse *p, struct tp_str v)
{
	return set_header(p, TP_STR("retry-after-ms"), v);
}

static const struct option {
	const char *name;
	unsigned needs; /* traits, all of them */
	bool (*set)(struct parse *p, struct tp_str value);
} options[] = {
	{"first", 0, set_first},
	{"every", HAS_OUTPUT, set_every},
	{"tokens", HAS_OUTPUT, set_tokens},
	{"after", HAS_MID, set_after},
	{"retry-after", HAS_HEAD, set_retry_after},
	{"retry-after-ms", HAS_HEAD, set_retry_after_ms},
	{"code", HAS_ERROR, set_code},
	{"type", HAS_ERROR, set_type},
	{"message", HAS_ERROR, set_message},
	{"body", HAS_STATUS, set_body},
};

static bool parse_option(struct parse *p, struct tp_str part)
{
	struct tp_str value = part, name;

	if (tp_str_eq(part, TP_STR("again"))) {
		p->step->again = true;
		return true;
	}
	(void)tp_sim_next_part(&value, '=', &name);
	if (value.p == NULL)
		return fail(p, "unknown option '%.*s'", SHOW(part));
	if (tp_str_starts(name, TP_STR("header.")) && (p->traits & HAS_HEAD) != 0)
		return set_header(p, (struct tp_str){name.p + 7, name.n - 7}, value);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		if (!tp_str_eq(name, tp_str_from(options[i].name)))
			continue;
		if ((p->traits & options[i].needs) != options[i].needs)
			break;
		return options[i].set(p, value);
	}
	return fail(p, "option '%.*s' does nothing in step '%.*s'", SHOW(name), SHOW(p->step->text));
}

static bool set_status(struct parse *p, uint32_t status)
{
	p->step->kind = TP_SIM_STATUS;
	p->step->status = (uint16_t)status;
	p->traits = HAS_HEAD | HAS_STATUS | (status < 300 ? HAS_OUTPUT : HAS_ERROR);
	return true;
}

/* "503", "reset-mid", "truncate=100"; a repeat count is cut off already. */
static bool parse_action(struct parse *p, struct tp_str part)
{
	struct tp_str number = part, name;
	uint32_t status;

	if (tp_sim_read_number(part, 599, &status) && status >= 200)
		return set_status(p, status);
	(void)tp_sim_next_part(&number, '=', &name);
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		const struct action *a = &actions[i];

		if (!tp_str_eq(name, tp_str_from(a->name)) || a->numbered != (number.p != NULL))
			continue;
		p->step->kind = a->kind;
		p->step->how = a->how;
		p->step->where = a->where;
		p->traits = a->traits;
		if (a->numbered && !tp_sim_read_number(number, 100000000, &p->step->number))
			return fail(p, "'%.*s': a number is missing", SHOW(part));
		return true;
	}
	return fail(p, "unknown fault '%.*s'", SHOW(part));
}

/* Cuts "x3" off "503x3". */
static bool parse_repeat(struct parse *p, struct tp_str *action)
{
	size_t at = action->n;

	p->step->repeat = 1;
	while (at > 0 && action->p[at - 1] >= '0' && action->p[at - 1] <= '9')
		at--;
	if (at == action->n || at < 2 || action->p[at - 1] != 'x')
		return true;
	if (!tp_sim_read_number((struct tp_str){action->p + at, action->n - at}, 1000000, &p->step->repeat) ||
	    p->step->repeat == 0)
		return fail(p, "'%.*s': repeat from 1 to 1000000 times", SHOW(*action));
	action->n = at - 1;
	return true;
}

static bool parse_step(struct parse *p, struct tp_str text)
{
	struct tp_str rest = text, action, option;

	*p->step = (struct tp_sim_step){.status = 200, .tokens = TP_SIM_TOKENS, .text = text};
	(void)tp_sim_next_part(&rest, ';', &action);
	if (!parse_repeat(p, &action) || !parse_action(p, action))
		return false;
	if (tp_str_eq(action, TP_STR("slow"))) {
		p->step->first_ms = 1000;
		p->step->every_ms = 100;
	}
	while (tp_sim_next_part(&rest, ';', &option))
		if (!parse_option(p, option))
			return false;
	return true;
}

bool tp_sim_script_parse(struct tp_sim_script *s, struct tp_str text, char *error, size_t size)
{
	struct parse p = {.s = s, .error = error, .size = size};
	struct tp_str rest, step;

	s->n_steps = 0;
	s->used = 0;
	if (text.n == 0 || text.n > TP_SIM_SCRIPT_MAX)
		return fail(&p, "a fault script has 1 to %d bytes", TP_SIM_SCRIPT_MAX);
	/* the script keeps its own copy, so that it outlives the request */
	memcpy(s->text, text.p, text.n);
	s->used = text.n;
	rest = (struct tp_str){s->text, text.n};
	while (tp_sim_next_part(&rest, ',', &step)) {
		if (s->n_steps == TP_SIM_STEPS_MAX)
			return fail(&p, "more than %d steps", TP_SIM_STEPS_MAX);
		p.step = &s->steps[s->n_steps++];
		if (!parse_step(&p, step))
			return false;
		if (p.step->again && rest.p != NULL)
			return fail(&p, "'again' stands on the last step only");
	}
	return true;
}

const struct tp_sim_step *tp_sim_script_step(const struct tp_sim_script *s, uint64_t send)
{
	const struct tp_sim_step *last = &s->steps[s->n_steps - 1];
	uint64_t all = 0, at = send - 1;

	for (uint32_t i = 0; i < s->n_steps; i++)
		all += s->steps[i].repeat;
	if (last->again)
		at %= all;
	for (uint32_t i = 0; i < s->n_steps; i++) {
		if (at < s->steps[i].repeat)
			return &s->steps[i];
		at -= s->steps[i].repeat;
	}
	return last;
}
