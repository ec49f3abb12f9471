/* /__sim/: what was sent, and the levers of a test. */
#include "server/simulate/server.h"

#include "common/http/path.h"
#include "server/simulate/value.h"

static void do_log(struct tp_sim_server *s, struct tp_str id, struct tp_buf *out)
{
	tp_sim_book_log(s->book, id, out);
}

static void do_count(struct tp_sim_server *s, struct tp_str id, struct tp_buf *out)
{
	tp_sim_book_count(s->book, id, out);
}

static void do_reset(struct tp_sim_server *s, struct tp_str id, struct tp_buf *out)
{
	(void)id;
	tp_sim_book_reset(s->book);
	tp_buf_add_str(out, TP_STR("{\"reset\":true}"));
}

static void do_release(struct tp_sim_server *s, struct tp_str id, struct tp_buf *out)
{
	tp_buf_printf(out, "{\"released\":%u}", tp_sim_conn_release(s, id));
}

static const struct {
	const char *method, *path;
	void (*act)(struct tp_sim_server *s, struct tp_str id, struct tp_buf *out);
} endpoints[] = {
	{"GET", "/__sim/log", do_log},
	{"GET", "/__sim/count", do_count},
	{"POST", "/__sim/reset", do_reset},
	{"POST", "/__sim/release", do_release},
};

/* The value of id= in the query, decoded into `buffer`; p NULL = none. */
static struct tp_str query_id(struct tp_str target, char *buffer, size_t size)
{
	struct tp_str rest = target, part;
	size_t n;

	(void)tp_sim_next_part(&rest, '?', &part);
	while (tp_sim_next_part(&rest, '&', &part))
		if (tp_str_starts(part, TP_STR("id=")) &&
		    tp_sim_decode((struct tp_str){part.p + 3, part.n - 3}, buffer, size, &n))
			return (struct tp_str){buffer, n};
	return (struct tp_str){NULL, 0};
}

int tp_sim_control(struct tp_sim_server *s, struct tp_str method, struct tp_str target, struct tp_buf *out)
{
	char buffer[TP_SIM_ID_MAX];
	struct tp_str path = tp_path_only(target);

	for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++) {
		if (tp_str_eq(path, tp_str_from(endpoints[i].path)) &&
		    tp_str_eq(method, tp_str_from(endpoints[i].method))) {
			endpoints[i].act(s, query_id(target, buffer, sizeof(buffer)), out);
			return 200;
		}
	}
	return 404;
}
