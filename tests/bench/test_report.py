"""The sums of `make bench` on numbers that are known."""
import driver
import pytest
import report
import run


def of_all(turnpike, nginx, haproxy, **more):
    return {"turnpike": turnpike, "nginx": nginx, "haproxy": haproxy, **more}


def found(key, turnpike, nginx, haproxy):
    return of_all({key: turnpike}, {key: nginx}, {key: haproxy})


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def row(scenario, key):
    return next(r for r in report.ROWS if (r.scenario, r.key) == (scenario, key))


@pytest.mark.parametrize("value, target, said", [
    (0.6, 0.6, "met"), (0.59, 0.6, "met"), (0.61, 0.6, "near"), (0.75, 0.6, "near"), (0.76, 0.6, "MISSED")])
def test_a_value_below_its_target_is_met(value, target, said):
    assert report.verdict(value, target) == said


@pytest.mark.parametrize("value, said", [(1.7, "met"), (1.95, "met"), (1.69, "near"), (1.36, "near"), (1.3, "MISSED"),
                                         (0.0, "MISSED")])
def test_a_speed_up_above_its_target_is_met(value, said):
    assert report.verdict_least(value, 1.7) == said


def test_a_row_has_values_ratios_and_verdicts():
    line = report.row_line({"json": found("cpu_us", 12.8, 16.0, 20.0)}, row("json", "cpu_us"))
    assert cells(line) == ["JSON 300 B: CPU per request, us", "12.8", "16.0", "20.0", "-", "0.80", "0.64",
                           "<= 0.6 nginx: MISSED, <= 0.8 HAProxy: met"]


def test_units_and_the_bare_column():
    scenarios = {"sse": of_all({"stream_bytes": 4096}, {"stream_bytes": 16384}, {"stream_bytes": 8192},
                               bare={"stream_bytes": 512})}
    assert cells(report.row_line(scenarios, row("sse", "stream_bytes")))[1:] == [
        "4.00", "16.0", "8.00", "0.50", "0.25", "0.50", "<= 4: met"]


def test_what_a_proxy_adds_is_measured_against_the_direct_way():
    scenarios = report.derived({"latency": {name: {"p50_us": p50, "p99_us": 3 * p50} for name, p50 in
                                            (("direct", 20), ("turnpike", 70), ("nginx", 90), ("haproxy", 100))}})
    assert scenarios["added"]["turnpike"] == {"p50_us": 50, "p99_us": 150}
    assert "direct" not in scenarios["added"] and "first_added" not in scenarios


def test_a_median_is_of_the_rounds_that_have_the_number():
    rounds = [{"cpu_us": 3.0, "idle": 7}, {"cpu_us": 1.0}, {"cpu_us": 100.0, "end": {"n": 1}}]
    assert driver.medians(rounds) == {"cpu_us": 3.0, "idle": 7}


def test_each_proxy_has_its_turn_in_each_round_and_another_one_begins():
    running = [driver.proxies.Proxy.__new__(driver.proxies.Proxy) for _ in range(3)]
    for name, proxy in zip("abc", running):
        proxy.name = name
    order = []
    driver.Bench.rounds(running, lambda p, r: order.append((r, p.name)) or {"x": r}, 3)
    assert "".join(name for _, name in order) == "abcbcacab"


def test_the_report_has_the_rows_that_were_run_and_says_when_the_core_was_shared():
    one = {"cpu_us": 10.0, "rate": 1000.0, "core": 0.5, "others_us": 5.0}
    lines = list(report.lines({"json": of_all(one, one, one), "versions": of_all("t", "n", "h"), "time": 1.0,
                               "one_cpu": False}))
    assert [cells(line)[0].split(":")[0] for line in lines if line.startswith("| JSON")] == ["JSON 300 B"] * 4
    assert not any(line.startswith("| SSE") for line in lines)
    assert "quiet machine" in lines[-1]


def test_the_table_goes_between_its_marks_and_nowhere_else(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("front\n<!-- bench: begin -->\nold\n<!-- bench: end -->\nback\n")
    monkeypatch.setattr(run, "PAGE", page)
    run.write_page(["one", "two"], "bench")
    assert page.read_text() == "front\n<!-- bench: begin -->\none\ntwo\n<!-- bench: end -->\nback\n"
    with pytest.raises(SystemExit):
        run.write_page(["one"], "other")
