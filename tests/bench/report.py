"""The table of a run, and how it stands to the targets of the design (section 12)."""

KIB = 1024
BUSY = 0.85  # part of its core that a proxy under closed-loop load gets when nothing else runs
SLACK = 1.25  # a target missed by less than this is "near"

# scenario, number, divided by, text, targets as a part of nginx and of HAProxy, absolute target
ROWS = [
    ("small", "cpu_us", 1, "JSON 300 B: CPU per request, us", 0.6, 0.8, None),
    ("tls_front", "cpu_us", 1, "the same, TLS with clients", None, None, None),
    ("tls_both", "cpu_us", 1, "the same, TLS both ways", None, None, None),
    ("tls_new", "cpu_us", 1, "TLS 1.2 handshake (P-256): CPU, us", None, None, None),
    ("tls_resumed", "cpu_us", 1, "resumed: CPU, us", None, None, None),
    ("large", "cpu_us", 1, "JSON 16 KiB: CPU per request, us", None, None, None),
    ("streams", "cpu_us", 1, "SSE: CPU per event, us", 0.7, None, None),
    ("streams", "stream_bytes", KIB, "SSE: memory per open stream, KiB", None, None, 4.0),
    ("streams", "idle_bytes", KIB * KIB, "idle, one worker, MiB", None, None, None),
    ("added", "p50_us", 1, "1 connection: added latency p50, us", None, None, None),
    ("added", "p99_us", 1, "1 connection: added latency p99, us", None, None, None),
    ("streams", "p50_us", 1, "SSE: provider to client p50, us", None, None, None),
    ("streams", "p99_us", 1, "SSE: provider to client p99, us", None, None, None),
    ("small", "rate", 1, "JSON 300 B: requests per second", None, None, None),
    ("small", "core", 0.01, "JSON 300 B: load of the proxy's core, %", None, None, None),
    ("small", "others_us", 1, "JSON 300 B: CPU of load and provider, us", None, None, None),
]
FORM = "{:<42}{:>9}{:>9}{:>9}{:>9}{:>9}{:>11}  {}"


def verdict(value, target):
    if value <= target:
        return "met"
    return "near" if value <= target * SLACK else "MISSED"


def added(latency):
    """What a proxy adds to the direct way; both were measured in the same rounds."""
    direct = latency["direct"]
    return {name: {key: one[key] - direct[key] for key in ("p50_us", "p99_us")}
            for name, one in latency.items() if name != "direct"}


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def ratio(mine, other):
    return f"{mine / other:.2f}" if other > 0 else "-"


def row_line(result, row):
    scenario, key, unit, text, of_nginx, of_haproxy, most = row
    mine, nginx, haproxy = (result[scenario][name][key] / unit for name in ("turnpike", "nginx", "haproxy"))
    bare = number(result[scenario]["bare"][key] / unit) if "bare" in result[scenario] else "-"
    said = []
    if of_nginx is not None:
        said.append(f"<= {of_nginx} nginx: {verdict(mine / nginx, of_nginx)}")
    if of_haproxy is not None:
        said.append(f"<= {of_haproxy} HAProxy: {verdict(mine / haproxy, of_haproxy)}")
    if most is not None:
        said.append(f"<= {most:g}: {verdict(mine, most)}")
    return FORM.format(text, number(mine), number(nginx), number(haproxy), bare, ratio(mine, nginx),
                       ratio(mine, haproxy), ", ".join(said)).rstrip()


def show(result):
    result["added"] = added(result["latency"])
    versions = result["versions"]
    print(f"{versions['turnpike']} | {versions['nginx']} | {versions['haproxy']}; one worker each, medians")
    print(FORM.format("", "Turnpike", "nginx", "HAProxy", "bare", "/ nginx", "/ HAProxy", "target").rstrip())
    for row in ROWS:
        print(row_line(result, row))
    pair = result["idle_pair_bytes"] / KIB / KIB
    print(FORM.format("idle master and two workers, MiB", number(pair), "", "", "", "", "",
                      f"<= 12: {verdict(pair, 12.0)}"))
    direct = result["latency"]["direct"]
    print(f"Without a proxy one connection has p50 {direct['p50_us']:.1f} us, p99 {direct['p99_us']:.1f} us.")
    if any(result["small"][name]["core"] < BUSY for name in ("turnpike", "nginx", "haproxy")):
        print("The proxies did not get their core for themselves: repeat this on a quiet machine.")
    if result["one_cpu"]:
        print("Only one CPU: load, provider and proxy share it, and latencies mean little.")
