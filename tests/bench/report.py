"""The table of a run, as it stands in docs/performance.md, and how it stands to the targets of the design (section 12)."""
from dataclasses import dataclass

KIB = 1024
BUSY = 0.85  # part of its core that a proxy under closed-loop load gets when nothing else runs
SLACK = 1.25  # a target missed by less than this is "near"
COLUMNS = ("turnpike", "nginx", "haproxy", "bare")


@dataclass(frozen=True)
class Row:
    scenario: str
    key: str
    text: str
    unit: float = 1
    of_nginx: float | None = None  # targets: as a part of nginx and of HAProxy, at most, at least
    of_haproxy: float | None = None
    most: float | None = None
    least: float | None = None


ROWS = [
    Row("json", "cpu_us", "JSON 300 B: CPU per request, us", of_nginx=0.6, of_haproxy=0.8),
    Row("json16k", "cpu_us", "JSON 16 KiB: CPU per request, us"),
    Row("json1m", "cpu_us", "JSON 1 MiB: CPU per request, us"),
    Row("tls_front", "cpu_us", "JSON 300 B, TLS with clients"),
    Row("tls_both", "cpu_us", "JSON 300 B, TLS both ways"),
    Row("tls_new", "cpu_us", "TLS 1.2 handshake (P-256): CPU, us"),
    Row("tls_resumed", "cpu_us", "resumed: CPU, us"),
    Row("retry", "cpu_us", "30% are 503: CPU per client's request, us"),
    Row("retry", "sends", "30% are 503: sends per client's request"),
    Row("retry", "failures", "30% are 503: failures of 1000 that clients see"),
    Row("retry", "p50_us", "30% are 503: answer p50, ms", unit=1000),
    Row("retry", "p99_us", "30% are 503: answer p99, ms", unit=1000),
    Row("sse", "cpu_us", "SSE, 1000 streams: CPU per event, us", of_nginx=0.7),
    Row("sse5000", "cpu_us", "SSE, 5000 streams: CPU per event, us"),
    Row("sse", "p50_us", "SSE: provider to client p50, us"),
    Row("sse", "p99_us", "SSE: provider to client p99, us"),
    Row("added", "p50_us", "1 connection: added latency p50, us"),
    Row("added", "p99_us", "1 connection: added latency p99, us"),
    Row("first_added", "p50_us", "first token: added p50, us"),
    Row("first_added", "p99_us", "first token: added p99, us"),
    Row("sse", "idle_bytes", "memory: idle, one worker, MiB", unit=KIB * KIB),
    Row("idle", "connection_bytes", "memory: per idle client connection, KiB", unit=KIB),
    Row("sse", "stream_bytes", "memory: per open stream of 1000, KiB", unit=KIB, most=4.0),
    Row("sse5000", "stream_bytes", "memory: per open stream of 5000, KiB", unit=KIB, most=4.0),
    Row("start", "start_ms", "start: exec to first answer, ms"),
    Row("scaling", "one_ms", "4000 events at once: one worker, ms"),
    Row("scaling", "two_ms", "4000 events at once: two workers, ms"),
    Row("scaling", "speed_up", "two workers: speed-up", least=1.7),
    Row("scaling", "one_cpu_us", "one worker: CPU per event, us"),
    Row("scaling", "two_cpu_us", "two workers: CPU per event, us"),
    Row("scaling", "busier", "two workers: part of the busier one, %", unit=0.01),
    Row("scaling", "cpu_speed_up", "two workers: speed-up by CPU of the busier one", least=1.7),
    Row("json", "rate", "JSON 300 B: requests per second"),
    Row("json", "core", "JSON 300 B: load of the proxy's core, %", unit=0.01),
    Row("json", "others_us", "JSON 300 B: CPU of load and provider, us"),
    Row("sse", "others_us", "SSE, 1000 streams: CPU of load and provider, us"),
]
FORM = "| {:<47} | {:>8} | {:>8} | {:>8} | {:>8} | {:>7} | {:>9} | {} |"
TITLES = ("", "Turnpike", "nginx", "HAProxy", "bare", "/ nginx", "/ HAProxy", "target")

PEER_ROWS = [
    Row("json", "cpu_us", "JSON 300 B: CPU per request, us"),
    Row("json", "rate", "JSON 300 B: requests per second"),
    Row("json", "p99_us", "JSON 300 B: p99 of 64 connections, ms", unit=1000),
    Row("sse", "cpu_us", "SSE, 100 streams: CPU per event, us"),
    Row("sse", "p50_us", "SSE: provider to client p50, us"),
    Row("sse", "p99_us", "SSE: provider to client p99, us"),
    Row("sse", "idle_bytes", "memory: idle, MiB", unit=KIB * KIB),
    Row("sse", "stream_bytes", "memory: per open stream, KiB", unit=KIB),
]


def verdict(value, target):
    if value <= target:
        return "met"
    return "near" if value <= target * SLACK else "MISSED"


def verdict_least(value, target):
    return verdict(target / value, 1.0) if value > 0 else "MISSED"


def added(latency):
    """What a proxy adds to the direct way; both were measured in the same rounds."""
    direct = latency["direct"]
    return {name: {key: one[key] - direct[key] for key in ("p50_us", "p99_us")}
            for name, one in latency.items() if name != "direct"}


def derived(result):
    """The scenarios of a result, and those that are made from them."""
    more = {name: added(result[source]) for name, source in (("added", "latency"), ("first_added", "first"))
            if source in result}
    return {**result, **more}


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(mine, other):
    return f"{mine / other:.2f}" if other > 0 else "-"


def targets(row, mine, nginx, haproxy):
    if row.of_nginx is not None:
        yield f"<= {row.of_nginx} nginx: {verdict(mine, row.of_nginx * nginx)}"
    if row.of_haproxy is not None:
        yield f"<= {row.of_haproxy} HAProxy: {verdict(mine, row.of_haproxy * haproxy)}"
    if row.most is not None:
        yield f"<= {row.most:g}: {verdict(mine, row.most)}"
    if row.least is not None:
        yield f">= {row.least:g}: {verdict_least(mine, row.least)}"


def row_line(scenarios, row):
    found = scenarios[row.scenario]
    values = [found[name][row.key] / row.unit if name in found else None for name in COLUMNS]
    mine, nginx, haproxy = values[:3]
    return FORM.format(row.text, *("-" if v is None else number(v) for v in values), ratio(mine, nginx),
                       ratio(mine, haproxy), ", ".join(targets(row, mine, nginx, haproxy)))


def peer_table(found):
    names = list(found["json"])
    lines = ["| " + " | ".join([" " * 42, *(f"{name:>26}" for name in names)]) + " |",
             "| " + " | ".join(["---", *("---:" for _ in names)]) + " |"]
    for row in PEER_ROWS:
        values = (number(found[row.scenario][name][row.key] / row.unit) for name in names)
        lines.append("| " + " | ".join([f"{row.text:<42}", *(f"{v:>26}" for v in values)]) + " |")
    return lines


def remarks(scenarios, one_cpu):
    if "idle" in scenarios:
        pair = scenarios["idle"]["pair_bytes"] / KIB / KIB
        yield f"Idle master and two workers: {number(pair)} MiB (target: 12, {verdict(pair, 12.0)})."
    for name, text in (("latency", "one connection"), ("first", "the first token")):
        if name in scenarios:
            direct = scenarios[name]["direct"]
            yield f"Without a proxy {text} has p50 {direct['p50_us']:.1f} us, p99 {direct['p99_us']:.1f} us."
    if any(one["core"] < BUSY for one in scenarios.get("json", {}).values()):
        yield "The proxies did not get their core for themselves: repeat this on a quiet machine."
    if one_cpu:
        yield "Only one CPU: load, provider and proxy share it, and latencies mean little."


def lines(result):
    """The whole report, without line ends."""
    scenarios = derived(result)
    rows = [row_line(scenarios, row) for row in ROWS if row.scenario in scenarios]
    if rows:
        versions = result["versions"]
        yield f"{versions['turnpike']}, {versions['nginx']}, {versions['haproxy']}; medians, BENCH_TIME={result['time']:g}"
        yield ""
        yield FORM.format(*TITLES)
        yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |"
        yield from rows
    if "peers" in scenarios:
        yield from ["", *peer_table(scenarios["peers"])]
    for remark in remarks(scenarios, result["one_cpu"]):
        yield ""
        yield remark
