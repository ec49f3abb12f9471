/* Wrong files: each message must stand at the right line and column. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "common/config/config.h"

/* A provider that is right, for files whose mistake is elsewhere. */
#define P "providers: {p: {url: \"http://h/v1\"}}\n"

struct wrong {
	const char *yaml;
	const char *place; /* "line:column" of the first message */
	const char *piece; /* of the first message */
};

static const struct wrong syntax[] = {
	{"providers: [", "2:1", "YAML: "},
	{"a: b: c\n", "1:5", "YAML: mapping values are not allowed"},
	{P "log: {level: info\n", "3:1", "began on line 2"},
	{"\tworkers: 1\n", "1:1", "YAML: "},
	{"providers: \"\\q\"\n", "1:13", "YAML: "},
	{"workers: 1\nb\xff: 1\n", "2:2", "not valid UTF-8"},
	{"\xff\xfew\0", "1:1", "UTF-16"},
	{P "---\nworkers: 1\n", "2:1", "second document"},
	{P "workers: &w 1\n", "2:10", "anchors"},
	{P "workers: !!int 1\n", "2:10", "tags"},
	{P "workers: *w\n", "2:10", "aliases"},
	{P "log: !x {level: info}\n", "2:6", "tags"},
	{P "? [a]\n: 1\n", "2:3", "key must be a plain word"},
	{P "workers: 1\nworkers: 2\n", "3:1", "`workers` is given twice: line 2 has it"},
	{P "log: {level: info, format: text, level: warn}\n", "2:34", "`level` is given twice"},
	{P "\"a\\nb\": 1\n", "2:1", "control character"},
	{P "log: {output: \"/tmp/a\\nb\"}\n", "2:15", "line break"},
	{P "log: {output: \"/tmp/a\\0b\"}\n", "2:15", "control character"},
	{"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", "1:33", "nested deeper"},
};

static const struct wrong keys[] = {
	{"", "1:1", "`providers` is missing"},
	{"# nothing\n", "1:1", "`providers` is missing"},
	{"workers: 1\n", "1:1", "`providers` is missing"},
	{"just text\n", "1:1", "must be a mapping"},
	{"- a\n", "1:1", "must be a mapping"},
	{"providers:\n", "1:1", "providers: has no entry: write {} while there is none"},
	{"providers: {}\nroutes: [{path: /, provider: p}]\n", "2:30", "no provider is named `p`"},
	{"providers: [a]\n", "1:12", "mapping of names"},
	{"providers:\n  p:\n", "2:3", "providers.p: `url` is missing"},
	{"providers: {p: {family: auto}}\n", "1:16", "`url` is missing"},
	{P "worker: 2\n", "2:1", "unknown key `worker` (did you mean `workers`?)"},
	{P "zebra: 2\n", "2:1", "unknown key `zebra` (known here: workers, listen,"},
	{P "deadline: 2s\n", "2:1", "(did you mean `retry.deadline`?)"},
	{P "virtual_models: {}\n", "2:1", "unknown key `virtual_models`"},
	{"providers:\n  p:\n    url: http://h\n    timeout: {connect: 1s}\n", "4:5",
	 "providers.p: unknown key `timeout` (did you mean `timeouts`?)"},
	{"providers: {p: {url: \"http://h\", timeouts: {firstByte: 1s}}}\n", "1:45",
	 "(did you mean `first_byte`?)"},
	{"providers: {p: {url: \"http://h\", vai: [direct]}}\n", "1:34",
	 "unknown key `vai` (did you mean `via`?)"},
	{P "retry: {transient: {cpa: 1s}}\n", "2:21",
	 "retry.transient: unknown key `cpa` (did you mean `cap`?)"},
	{P "log: debug\n", "2:6", "log: must be a mapping"},
	{P "workers: [2]\n", "2:10", "workers: must be a single value, not a list"},
	{P "workers: {a: 2}\n", "2:10", "not a mapping"},
	{P "workers:\n", "2:1", "workers: has no value"},
	{P "hosts: a\n", "2:8", "must be a list"},
	{P "hosts:\n", "2:1", "write [] for an empty list"},
	{P "hosts: [a, [b]]\n", "2:12", "hosts[1]: must be a single value"},
	{P "clients: [a]\n", "2:11", "clients[0]: must be a mapping"},
};

static const struct wrong values[] = {
	{P "workers: 0\n", "2:10", "`0` is out of range: from 1 to 256"},
	{P "workers: 257\n", "2:10", "out of range"},
	{P "workers: two\n", "2:10", "`two` is not a whole number"},
	{P "budget: {sends: -1}\n", "2:17", "budget.sends: `-1` is negative"},
	{P "budget: {sends: 1.5}\n", "2:17", "`1.5` is not a whole number"},
	{P "budget: {sends: 99999999999}\n", "2:17", "`99999999999` is out of range: from 0 to 100"},
	{P "budget: {sends: 99999999999999999999999}\n", "2:17", "far too large"},
	{P "budget: {ttl: 10}\n", "2:15", "budget.ttl: `10` has no unit: add ms, s, m or h"},
	{P "budget: {ttl: 10d}\n", "2:15", "unknown unit"},
	{P "budget: {ttl: 25h}\n", "2:15", "from 0s to 24h"},
	{P "limits: {header: 64KB}\n", "2:18", "KiB, MiB and GiB are known"},
	{P "limits: {header: 2MiB}\n", "2:18", "from 256 to 1MiB"},
	{P "allow_anonymous: maybe\n", "2:18", "neither true nor false"},
	{P "log: {level: inof}\n", "2:14",
	 "`inof` is not one of error, warn, info, debug (did you mean `info`?)"},
	{P "log: {output: sislog}\n", "2:15", "neither stderr nor syslog nor an absolute path"},
	{P "access_log: {output: access.log}\n", "2:22", "neither off nor stderr nor an absolute path"},
	{P "snapshots: {keep: 0}\n", "2:19", "1"},
	{P "snapshots: {directory: here}\n", "2:24", "absolute"},
	{P "log: {output: \"\"}\n", "2:15", "is empty"},
	{P "pid_file: run/x.pid\n", "2:11", "absolute path"},
	{P "state: {name: turnpike}\n", "2:15", "slash and a name"},
	{P "state: {name: /a/b}\n", "2:15", "no further slash"},
	{P "state: {name: /..}\n", "2:15", "slash and a name"},
	{P "state: {urls: 8}\n", "2:15", "from 16 to 1048576"},
	{P "blacklist: {failures: -1}\n", "2:23", "is negative"},
	{P "blacklist: {window: 0s}\n", "2:21", "from 1ms to 24h"},
	{P "blacklist: {duration: 25h}\n", "2:23", "from 1ms to 24h"},
	{P "blacklist: {failure: 3}\n", "2:13", "did you mean `failures`?"},
	{P "retry: {transient: {statuses: [500, 399]}}\n", "2:37", "retry.transient.statuses[1]: `399`"},
	{P "retry: {transient: {statuses: [500, 600]}}\n", "2:37", "from 400 to 599"},
	{P "retry: {transient: {statuses: [500, 500]}}\n", "2:37", "is given twice"},
	{P "retry: {transient: {statuses: [5xx]}}\n", "2:32", "not a whole number"},
	{P "hosts: [\"a:80\"]\n", "2:9", "no host name"},
	{P "hosts: [a, A]\n", "2:12", "is given twice"},
	{P "origins: [\"*\"]\n", "2:11", "no origin"},
	{P "origins: [\"http://a/b\"]\n", "2:11", "no origin"},
	{P "budget: {identify: [\"a b\"]}\n", "2:21", "no header name"},
	{P "budget: {identify: [x-a, X-A]}\n", "2:26", "is given twice"},
};

static const struct wrong listeners[] = {
	{P "listen: 8080\n", "2:9", "no address"},
	{P "listen: 127.0.0.1\n", "2:9", "no address"},
	{P "listen: \":8080\"\n", "2:9", "0.0.0.0 or [::]"},
	{P "listen: \"*:8080\"\n", "2:9", "0.0.0.0 or [::]"},
	{P "listen: example.com:80\n", "2:9", "numeric address"},
	{P "listen: \"::1:80\"\n", "2:9", "`::1:80` has no valid port"},
	{P "listen: \"[::1\"\n", "2:9", "no address"},
	{P "listen: 127.0.0.1:65536\n", "2:9", "port"},
	{P "listen: 127.0.0.1:\n", "2:18", "mapping"},
	{P "listen: unix:x.sock\n", "2:9", "absolute path"},
	{P "listen: []\n", "2:9", "at least 1 entry"},
	{P "listen:\n  - 127.0.0.1:1\n  - 127.0.0.1:1\n", "4:5", "address of listen[0] too"},
	{P "listen:\n  - {tls: {}}\n", "3:5", "listen[0]: `address` is missing"},
	{P "listen: {address: 127.0.0.1:1, client_half_close: serv}\n", "2:51", "did you mean `serve`?"},
	{P "listen: {address: 127.0.0.1:1, tls: {certificate: /nowhere.pem, key: /nowhere.pem}}\n", "2:51",
	 "there is no such file"},
	{P "listen: {address: 127.0.0.1:1, tls: {certificate: /etc/passwd, key: /etc/passwd}}\n", "2:51",
	 "cannot be used as a certificate: it holds none"},
	{P "listen: {address: 127.0.0.1:1, tls: {more: []}}\nworkers: x\n", "3:10", "workers"},
	{P "listen: {address: 127.0.0.1:1, tls: {certificate: /etc/passwd}}\n", "2:37", "`key` is missing"},
	{P "listen: {address: 127.0.0.1:1, tls: {key: /etc/passwd}}\n", "2:37", "`certificate` is missing"},
	{P "listen: 0.0.0.0:80\n", "2:9", "can be reached from other machines"},
	{P "listen: \"[::]:80\"\n", "2:9", "can be reached from other machines"},
	{P "listen: [127.0.0.1:1, \"192.168.0.1:1\"]\n", "2:23", "allow_anonymous: true"},
	{P "allow_anonymous: true\nclients: [{name: a, key: k}]\n", "2:18", "contradicts `clients`"},
	{P "clients: [{name: a}]\n", "2:11", "clients[0]: `key` is missing"},
	{P "clients: [{name: a, key: \"\"}]\n", "2:26", "clients[0].key: the value is empty"},
	{P "clients: [{name: a, key: }]\n", "2:21", "has no value"},
	{P "clients: [{name: a, key: k}, {name: a, key: l}]\n", "2:37",
	 "clients[1].name: clients[0] has the same name"},
	{P "clients: [{name: a, key: k}, {name: b, key: k}]\n", "2:45",
	 "clients[1].key: clients[0] has the same key"},
	{P "clients: [{name: a b, key: k}]\n", "2:18", "is no name"},
	{P "clients: [{name: a, key: \"k k\"}]\n", "2:26", "cannot stand in a header"},
};

#define URL(u) "providers:\n  p:\n    url: \"" u "\"\n"

static const struct wrong providers[] = {
	{URL("h/v1"), "3:10", "must begin with http:// or https://"},
	{URL("ftp://h/v1"), "3:10", "must begin with http"},
	{URL("http://"), "3:10", "has no host"},
	{URL("http:///v1"), "3:10", "has no host"},
	{URL("http://user:pw@/v1"), "3:10", "has no host"},
	{URL("http://h_\xc3\xa9/v1"), "3:10", "no valid host"},
	{URL("http://h:0/v1"), "3:10", "no valid port"},
	{URL("http://h:70000/v1"), "3:10", "no valid port"},
	{URL("http://h:/v1"), "3:10", "no valid port"},
	{URL("http://[::1/v1"), "3:10", "no valid host"},
	{URL("http://[1.2.3.4]/v1"), "3:10", "no valid host"},
	{URL("http://h/v1?key=1"), "3:10", "query"},
	{URL("http://h?key=1"), "3:10", "query"},
	{URL("http://h/v1#a"), "3:10", "fragment"},
	{URL("http://h/v 1"), "3:10", "percent-encoded"},
	{URL("http://h/a/../b"), "3:10", "dot segment"},
	{URL("http://h//v1"), "3:10", "empty segment"},
	{URL(""), "3:10", "empty"},
	{"providers: {p q: {url: \"http://h\"}}\n", "1:13", "`p q` is no name"},
	{URL("http://h") "    keys: [abc, b, abc]\n", "4:20", "given twice"},
	{URL("http://h") "    keys: a\n", "4:11", "must be a list"},
	{URL("http://h") "    keys: [\"\"]\n", "4:12", "providers.p.keys[0]: the value is empty"},
	{URL("http://h") "    keys:\n", "4:5", "write []"},
	{URL("http://u:p@h") "    keys: [a]\n", "3:10", "Authorization"},
	{URL("http://h") "    timeouts: {connect: 0}\n", "4:25", "from 1ms to 1h"},
	{URL("http://h") "    tls: {verify: false}\n", "4:10", "http:// url"},
	{URL("https://h") "    tls: {ca: /nowhere.pem}\n", "4:15", "no such file"},
	{URL("https://h") "    tls: {ca: /etc/passwd}\n", "4:15",
	 "cannot be used for authorities: it holds none"},
	{URL("https://h") "    tls: {key: /etc/passwd}\n", "4:10", "`certificate` is missing"},
	{URL("https://h") "    tls: {certificate: /etc/passwd}\n", "4:10", "`key` is missing"},
	{URL("https://h") "    tls: {ca: /etc}\n", "4:15", "not a regular file"},
	{URL("http://h") "    via: []\n", "4:10", "at least 1"},
	{URL("http://h") "    via: direct\n", "4:10", "must be a list"},
	{URL("http://h") "    via: [direct, proxy]\n", "4:19", "write direct, or a proxy"},
	{URL("http://h") "    via: [direct, direct]\n", "4:19", "is given twice"},
	{URL("http://h") "    via: [\"https://p:1\"]\n", "4:11", "by http:// only"},
	{URL("http://h") "    via: [\"socks5://p:1\"]\n", "4:11", "must begin with http://"},
	{URL("http://h") "    via: [\"http://p\"]\n", "4:11", "needs the port"},
	{URL("http://h") "    via: [\"http://p:0\"]\n", "4:11", "no valid port"},
	{URL("http://h") "    via: [\"http://p:1/a\"]\n", "4:11", "without a path"},
	{URL("http://h") "    via: [\"http://u@:1\"]\n", "4:11", "has no host"},
	{URL("http://h") "    replay_safe: [models]\n", "4:19", "begin with a slash"},
	{URL("http://h") "    replay_safe: [/a?b]\n", "4:19", "plain path"},
	{URL("http://h") "    retry: {retry_after: {floor: 2m}}\n", "4:34", "above ceiling (60s)"},
	{P "retry: {retry_after: {ceiling: 1s}}\n", "2:32", "below floor (1.5s)"},
	{P "retry: {transient: {statuses: [503]}, overload: {statuses: [503, 429]}}\n", "2:60",
	 "503 is in transient.statuses too"},
	{P "budget: {sends: 2, reserve: 3}\n", "2:29", "above sends (2)"},
	{P "budget: {sends: 0}\n", "2:17", "below reserve (1 by default)"},
	{URL("http://h") "    retry: {profile: guarded}\nretry: {profile: patient}\nbudget: {reserve: 5}\n",
	 "4:22", "has 4 sends, fewer than budget.reserve (5)"},
	{P "retry: {profile: bold}\n", "2:18", "guarded, patient"},
	{P "retry: {ambiguous_replays: 2}\n", "2:28", "from 0 to 1"},
	{P "retry: {heartbeat: {every: 0s}}\n", "2:28", "from 100ms to 1h"},
	{URL("http://h") "    retry: {profile: guarded}\nretry: {profile: patient, retry_after: {floor: "
			 "90s}}\n",
	 "4:22", "of a ceiling below floor (90s)"},
	{P "routes: [{path: /v1, provider: q}]\n", "2:32", "no provider is named `q`"},
	{"providers: {openai: {url: \"http://h\"}}\nroutes: [{path: /v1, provider: opnai}]\n", "2:32",
	 "no provider is named `opnai` (did you mean `openai`?)"},
	{P "routes: [{path: v1, provider: p}]\n", "2:17", "begin with a slash"},
	{P "routes: [{path: /a/./b, provider: p}]\n", "2:17", "dot segment"},
	{P "routes:\n  - {path: /v1, provider: p}\n  - {path: /v1/, provider: p}\n", "4:12",
	 "routes[1].path: routes[0] has the same path"},
	{P "routes: [{path: /v1}]\n", "2:10", "routes[0]: `provider` is missing"},
	{"providers:\n  p: {url: \"http://h\"}\n  q: {url: \"http://h\"}\n", "2:3", "`routes` must say"},
	{"providers:\n  p: {url: \"http://h\"}\n  q: {url: \"http://h\"}\nroutes: []\n", "4:9",
	 "`routes` must say"},
};

#define TWO(a, b)                                                                                            \
	"providers:\n  a: {url: \"http://a/v1\", " a "}\n  b: {url: \"http://b/v1\", " b                     \
	"}\nroutes: [{path: /v1, provider: a}]\n"
#define KEY   "keys: [k]"
#define COMBO "combos: {c: {targets: [{provider: a, model: m}, {provider: b, model: n}]}}\n"

static const struct wrong combos[] = {
	{P "combos: {c: {}}\n", "2:13", "`targets` is missing"},
	{P "combos: {c: {targets: []}}\n", "2:23", "needs at least 1 entry"},
	{P "combos: {c: {targets: [{provider: q, model: m}]}}\n", "2:35", "no provider is named `q`"},
	{P "combos: {c: {targets: [{provider: p}]}}\n", "2:24", "`model` is missing"},
	{P "combos: {c: {targets: [{provider: p, model: a b}]}}\n", "2:45", "is no model name"},
	{P "combos: {c: {targets: [{provider: p, model: m, weight: 0}]}}\n", "2:56", "out of range"},
	{P "combos: {c: {strategy: fair, targets: [{provider: p, model: m}]}}\n", "2:24",
	 "is not one of failover, round_robin"},
	{P "combos: {c/d: {targets: [{provider: p, model: m}]}}\n", "2:10", "is no name"},
	{P "combos: {c: {targets: [{provider: p, model: m}], sends_per_target: 0}}\n", "2:68",
	 "out of range"},
	{P "combos: {c: {targets: [{provider: p, model: m}, {provider: p, model: m}]}}\n", "2:49",
	 "is the same target as targets[0]"},
	{TWO("family: auto", "family: auto") COMBO, "5:49", "pass_credential"},
	{TWO(KEY, "family: auto") COMBO, "5:49", "no route leads to its origin"},
	{P "routes: [{path: /v1, provider: p}, {path: /v1, models: [a], provider: p}]\n", "2:43",
	 "has the same path and takes all models"},
};

static const struct wrong expansions[] = {
	{P "log: {output: \"${TP_TEST_UNSET}\"}\n", "2:15",
	 "environment variable `TP_TEST_UNSET` is not set"},
	{P "log: {output: \"/a/${TP_TEST_UNSET\"}\n", "2:15", "no closing brace"},
	{P "log: {output: \"${}\"}\n", "2:15", "neither ${NAME} nor ${file:/path}"},
	{P "log: {output: \"${1A}\"}\n", "2:15", "neither ${NAME}"},
	{P "log: {output: \"${file:x}\"}\n", "2:15", "needs an absolute path"},
	{P "log: {output: \"${file:/nowhere/x}\"}\n", "2:15",
	 "file `/nowhere/x` cannot be used: No such file"},
	{P "log: {output: \"${file:/etc}\"}\n", "2:15", "not a regular file"},
	{P "log: {output: \"${file:/dev/zero}\"}\n", "2:15", "not a regular file"},
	{P "workers: ${TP_TEST_SECRET}\n", "2:10", "`${TP_TEST_SECRET}` is not a whole number"},
	{P "clients: [{name: a, key: \"${TP_TEST_LINES}\"}]\n", "2:26", "line break"},
	{P "clients: [{name: a, key: \"${TP_TEST_EMPTY}\"}]\n", "2:26", "empty"},
};

static const struct {
	const struct wrong *rows;
	int n;
} tables[] = {
#define TABLE(t)                                                                                             \
	{                                                                                                    \
		(t), (int)(sizeof(t) / sizeof((t)[0]))                                                       \
	}
	TABLE(syntax),    TABLE(keys),   TABLE(values),     TABLE(listeners),
	TABLE(providers), TABLE(combos), TABLE(expansions),
};

static void set_environment(void)
{
	ck_assert_int_eq(unsetenv("TP_TEST_UNSET"), 0);
	ck_assert_int_eq(setenv("TP_TEST_SECRET", "hunter2", 1), 0);
	ck_assert_int_eq(setenv("TP_TEST_LINES", "a\nb", 1), 0);
	ck_assert_int_eq(setenv("TP_TEST_EMPTY", "", 1), 0);
}

static void check_row(const struct wrong *w)
{
	struct tp_buf errors = {0};
	char begin[64];
	struct tp_config *c = tp_config_parse("f.yaml", tp_str_from(w->yaml), &errors);
	ck_assert_msg(c == NULL, "accepted: %s", w->yaml);
	const char *text = tp_buf_cstr(&errors);
	ck_assert_ptr_nonnull(text);
	(void)snprintf(begin, sizeof begin, "f.yaml:%s: ", w->place);
	ck_assert_msg(strncmp(text, begin, strlen(begin)) == 0, "not at %s: %sof: %s", w->place, text,
		      w->yaml);
	const char *end = strchr(text, '\n');
	const char *piece = strstr(text, w->piece);
	ck_assert_msg(piece != NULL && piece < end, "no \"%s\" in: %sof: %s", w->piece, text, w->yaml);
	ck_assert_msg(strstr(text, "hunter2") == NULL, "shows a value from the environment: %s", text);
	tp_buf_free(&errors);
}

START_TEST(tells_each_mistake_at_its_place)
{
	set_environment();
	for (int i = 0; i < tables[_i].n; i++)
		check_row(&tables[_i].rows[i]);
}
END_TEST

START_TEST(tells_one_mistake_once)
{
	/* Rows whose only message must be that one: no echo of the first mistake from a later check. */
	for (int i = 0; i < tables[_i].n; i++) {
		struct tp_buf errors = {0};
		size_t lines = 0;
		set_environment();
		(void)tp_config_parse("f", tp_str_from(tables[_i].rows[i].yaml), &errors);
		for (size_t k = 0; k < errors.len; k++)
			lines += errors.data[k] == '\n';
		/* Both files of a certificate can be wrong. */
		size_t expected = strstr(tables[_i].rows[i].yaml, "key: /nowhere.pem") != NULL ? 2 : 1;
		ck_assert_msg(lines == expected, "%.*sof: %s", (int)errors.len, errors.data,
			      tables[_i].rows[i].yaml);
		tp_buf_free(&errors);
	}
}
END_TEST

START_TEST(tells_all_mistakes_in_the_order_of_the_file)
{
	static const char yaml[] = "worker: 1\n"
				   "budget: { ttl: 10, sends: x }\n"
				   "routes: [ { path: /v1, provider: q } ]\n"
				   "providers:\n"
				   "  p: { url: nope, keys: [ a, a ] }\n"
				   "budget: {}\n";
	static const char *const places[] = {
		"f:1:1: ", "f:2:16: ", "f:2:27: ", "f:3:34: ", "f:5:13: ", "f:5:30: ", "f:6:1: "};
	struct tp_buf errors = {0};
	ck_assert_ptr_null(tp_config_parse("f", tp_str_from(yaml), &errors));
	const char *line = tp_buf_cstr(&errors);
	for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
		ck_assert_msg(strncmp(line, places[i], strlen(places[i])) == 0, "%s not in %s", places[i],
			      errors.data);
		line = strchr(line, '\n') + 1;
	}
	ck_assert_str_eq(line, "");
	tp_buf_free(&errors);
}
END_TEST

START_TEST(never_shows_secrets)
{
	static const char *const yamls[] = {
		"providers: {p: {url: \"http://user:hunter2@h:99999/v1\"}}\n",
		"providers: {p: {url: \"http://user:hunter2@h/v1\", keys: [k]}}\n",
		"providers: {p: {url: \"http://h\", via: [\"http://user:hunter2@h\"]}}\n",
		"providers: {p: {url: \"http://h\", via: [\"hunter2\"]}}\n",
		"providers: {p: {url: \"http://h\", via: [\"http://u:hunter2@h:1\", "
		"\"http://u:hunter2@h:1\"]}}\n",
		"providers: {p: {url: \"http://h\", keys: [\"hunter2 \\u00e9\"]}}\n",
		"providers: {p: {url: \"http://h\", keys: [hunter2, hunter2]}}\n",
		"providers: {p: {url: \"http://h\", keys: hunter2}}\n",
		P "clients: [{name: a, key: \"hunter2 \"}]\n",
		P "clients: [{name: a, key: hunter2}, {name: a, key: hunter2}]\n",
		P "clients: hunter2\n",
	};
	for (size_t i = 0; i < sizeof yamls / sizeof yamls[0]; i++) {
		struct tp_buf errors = {0};
		ck_assert_ptr_null(tp_config_parse("f", tp_str_from(yamls[i]), &errors));
		ck_assert_msg(strstr(tp_buf_cstr(&errors), "hunter2") == NULL, "%s", errors.data);
		tp_buf_free(&errors);
	}
}
END_TEST

START_TEST(tells_why_a_file_cannot_be_read)
{
	struct tp_buf errors = {0};
	ck_assert_ptr_null(tp_config_load("/nowhere/x.yaml", &errors));
	ck_assert_str_eq(tp_buf_cstr(&errors),
			 "/nowhere/x.yaml: cannot be read: No such file or directory\n");
	tp_buf_free(&errors);
	ck_assert_ptr_null(tp_config_load("/etc", &errors));
	ck_assert_str_eq(tp_buf_cstr(&errors), "/etc: cannot be read: Is a directory\n");
	tp_buf_free(&errors);
	ck_assert_ptr_null(tp_config_load("/dev/zero", &errors));
	ck_assert_str_eq(tp_buf_cstr(&errors), "/dev/zero: cannot be read: File too large\n");
	tp_buf_free(&errors);
}
END_TEST

START_TEST(bounds_the_entries_of_a_mapping)
{
	struct tp_buf yaml = {0}, errors = {0};
	for (int i = 0; i <= 4096; i++)
		tp_buf_printf(&yaml, "k%d:\n", i);
	ck_assert_ptr_null(tp_config_parse("f", tp_buf_str(&yaml), &errors));
	ck_assert_str_eq(tp_buf_cstr(&errors), "f:4097:1: more than 4096 entries\n");
	tp_buf_free(&yaml);
	tp_buf_free(&errors);
}
END_TEST

/* What the shared table has no room for. */
START_TEST(bounds_what_the_table_holds)
{
	static const struct {
		const char *part;
		int most;
		const char *said;
	} rows[] = {
		{"capacity: {limit: 2}", TP_GATED_MAX,
		 "p64.capacity.limit: is one too many: 64 providers at most"},
		{"capacity: {limit: auto}", TP_GATED_MAX,
		 "p64.capacity.limit: is one too many: 64 providers at most"},
		{"refresh: {url: http://h/t, refresh_token: r, state_file: /tmp/f%d}", TP_REFRESHED_MAX,
		 "p32.refresh: is one too many: 32 providers at most"},
	};
	for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
		for (int more = 0; more < 2; more++) {
			struct tp_buf yaml = {0}, errors = {0};
			tp_buf_add_str(&yaml, TP_STR("routes: [{path: /, provider: p0}]\nproviders:\n"));
			for (int i = 0; i < rows[r].most + more; i++) {
				tp_buf_printf(&yaml, "  p%d: {url: \"http://h/v1\", ", i);
				const char *number = strstr(rows[r].part, "%d");
				size_t n = number != NULL ? (size_t)(number - rows[r].part)
							  : strlen(rows[r].part);
				tp_buf_add(&yaml, rows[r].part, n);
				if (number != NULL)
					tp_buf_printf(&yaml, "%d%s", i, number + 2);
				tp_buf_add_str(&yaml, TP_STR("}\n"));
			}
			struct tp_config *c = tp_config_parse("f", tp_buf_str(&yaml), &errors);
			ck_assert_msg((c != NULL) == (more == 0), "%s", tp_buf_cstr(&errors));
			if (more == 1)
				ck_assert_msg(strstr(tp_buf_cstr(&errors), rows[r].said) != NULL, "%s",
					      tp_buf_cstr(&errors));
			tp_config_unref(c);
			tp_buf_free(&yaml);
			tp_buf_free(&errors);
		}
}
END_TEST

int main(void)
{
	const int n = (int)(sizeof tables / sizeof tables[0]);
	Suite *suite = suite_create("config_errors");
	TCase *tc = tcase_create("config_errors");
	tcase_add_loop_test(tc, tells_each_mistake_at_its_place, 0, n);
	tcase_add_loop_test(tc, tells_one_mistake_once, 0, n);
	tcase_add_test(tc, tells_all_mistakes_in_the_order_of_the_file);
	tcase_add_test(tc, never_shows_secrets);
	tcase_add_test(tc, tells_why_a_file_cannot_be_read);
	tcase_add_test(tc, bounds_the_entries_of_a_mapping);
	tcase_add_test(tc, bounds_what_the_table_holds);
	suite_add_tcase(suite, tc);
	SRunner *runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
