"""The status page in Chromium.  Pictures of it go to build/ui/."""

import http.server
import json
import os
import random
import signal
import threading

import pytest

from forward import Forward
from harness.client import ask, body_for
from harness.provider import ok, reset, silent, status
from harness.turnpike import ROOT, ShiftedClock, run, until

PICTURES = os.path.join(ROOT, "build", "ui")
ONCE = {"X-Turnpike-Max-Sends": "1"}
ALLOW = [r"^alert url_listed: "]
BLACKLIST = {"blacklist": {"failures": 2}}  # the third one lists
SUMMARY = "document.querySelector('#summary .text').textContent"
CLEAR = "#providers tr.sub button"
BUTTONS = "[...document.querySelectorAll('main button')].filter(b => b.checkVisibility()).length"
ROWS = "[...document.querySelectorAll('#providers tr.sub')].map(r => r.innerText).join('\\n')"


@pytest.fixture
def door(lab):
    """The admin socket, and a port that leads to it."""
    path = os.path.join(lab.folder, "admin.sock")
    made = Forward(path)
    yield {"admin": {"listen": ["unix:" + path]}}, made
    made.close()


def clean(browser, *origins):
    assert browser.complaints() == []
    foreign = [url for url in browser.urls() if not url.startswith(origins)]
    assert foreign == []


def list_it(lab, t):
    for _ in range(3):
        assert lab.post(t, headers=ONCE).status == 500


def test_a_listing_appears_and_is_cleared(lab, door, browser):
    config, forward = door
    u = lab.provider(then=status(500))
    t = lab.turnpike(u, dict(config, **BLACKLIST), allow=ALLOW)
    browser.open(forward.url + "/")
    browser.until(SUMMARY + " === 'All in service'")
    assert browser.run(BUTTONS) == 0
    list_it(lab, t)
    browser.until("document.querySelector(%s)" % json.dumps(CLEAR))
    assert browser.run(SUMMARY) == "A URL of p is out of service"
    assert browser.run("document.querySelector('#news').textContent") == "A URL of p is out of service"
    assert "Listed" in browser.run(ROWS) and "it answered with server errors" in browser.run(ROWS)
    left = "document.querySelector('#providers tr.sub td.n').textContent"
    first = browser.run(left)
    assert " min " in first or " s" in first
    browser.until("%s !== %s" % (left, json.dumps(first)))  # it counts down
    u.main.set(then=ok())
    held = lab.post(t, headers=ONCE)
    assert (held.status, held.sends) == (503, 0)
    browser.until("document.querySelector('#failures .code')?.textContent === 'upstream_blacklisted'")
    failures = browser.run("document.querySelector('#failures').innerText")
    assert failures.count("\t500\t") == 3 and held.header("x-turnpike-request-id") in failures
    browser.click(CLEAR)
    browser.until(SUMMARY + " === 'All in service'")
    assert browser.run("document.querySelectorAll('#providers tr.sub').length") == 0
    assert run("blacklist", "-c", t.file).stdout == "nothing is blacklisted\n"
    served = lab.post(t, headers=ONCE)
    assert (served.status, served.sends, u.count) == (200, 1, 4)
    clean(browser, forward.url)


def test_no_token_no_buttons(lab, browser):
    t = lab.turnpike(lab.provider(then=status(500)), dict(BLACKLIST, admin={"listen": ["127.0.0.1:0"]}), allow=ALLOW,
                     probe=False)
    list_it(lab, t)
    url = "http://127.0.0.1:%d" % t.admins[0][1]
    browser.open(url + "/")
    browser.until(ROWS + ".includes('Listed')")
    assert browser.run(BUTTONS) == 0
    assert "unix socket" in browser.run("document.querySelector('#clearing').textContent")
    clean(browser, url)


def test_the_token_by_keyboard(lab, browser):
    """Also what a browser shows at an address where reading needs the token."""
    t = lab.turnpike(lab.provider(then=status(500)), dict(BLACKLIST, admin={"listen": ["0.0.0.0:0"], "token": "s3cret"}),
                     allow=ALLOW, probe=False)
    list_it(lab, t)
    port = t.admins[0][1]
    url = "http://127.0.0.1:%d" % port
    assert ask(("127.0.0.1", port), "GET", "/stats?history=1").status == 401
    browser.open(url + "/")
    browser.until(SUMMARY + " === 'A token is needed'")
    for word, then in (("s3cre7", "document.querySelector('#door-why').textContent === 'The token was not accepted.'"),
                       ("s3cret", "document.querySelector(%s)" % json.dumps(CLEAR))):
        browser.run("document.querySelector('#token').focus()")
        browser.ask("Input.insertText", text=word)
        browser.key("Enter", 13, "\r")
        browser.until(then)
    for _ in range(20):
        browser.key("Tab", 9)
        if browser.run("document.activeElement.matches(%s)" % json.dumps(CLEAR)):
            break
    browser.key("Enter", 13, "\r")
    browser.until(SUMMARY + " === 'All in service'")
    assert browser.run("document.activeElement.id") == "main"  # where the button was, not at the top
    assert run("blacklist", "-c", t.file).stdout == "nothing is blacklisted\n"
    refused = [c for c in browser.complaints() if "401" not in json.dumps(c)]
    assert refused == []


def test_a_refused_reload_is_shown(lab, door, browser):
    config, forward = door
    t = lab.turnpike(lab.provider(then=ok()), config, allow=["."], probe=False)
    browser.open(forward.url + "/")
    browser.until("document.querySelector('#about').textContent.includes('configuration 1')")
    good = open(t.file).read()
    shown = "document.querySelector('#reload').checkVisibility()"
    for text, condition in ((good + "nonsense: 1\n", shown + " && document.querySelector('#reload-text').textContent.includes('nonsense')"),
                            (good, "!%s && document.querySelector('#about').textContent.includes('configuration 2')" % shown)):
        with open(t.file, "w") as out:
            out.write(text)
        t.signal(signal.SIGHUP)
        browser.until(condition)


def test_slow_open_requests(lab, door, browser):
    """They appear with what they do, wait for and until when, and go when they are over."""
    config, forward = door
    u = lab.provider(status(429, {"Retry-After": "40", "X-Codex-Model-Capacity": "4/4"}), silent(), then=ok())
    t = lab.turnpike(u, config)
    shown = "document.querySelector('#open').innerText"
    rows = "document.querySelectorAll('#open tr:has(.code)').length"
    browser.open(forward.url + "/")
    browser.until(shown + " === 'None is open for more than a second.'")
    waits, sends = lab.client(t), lab.client(t)
    waits.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions", model="gpt-5-codex"))
    u.wait_sends(1)
    sends.request("POST", "/v1/chat/completions", body=body_for("/v1/chat/completions", model="<b>gpt"))
    browser.until(rows + " === 2")
    browser.until(shown + ".includes('Sent, no answer yet')")
    text = browser.run(shown)
    assert "p/gpt-5-codex" in text and "Waits: the provider is busy" in text and "<b>" not in text, text
    left = "document.querySelector('#open td.warn').nextSibling.textContent"
    first = browser.run(left)
    assert first.endswith(" s") and 20 < int(first[:-2]) <= 40
    browser.until("%s !== %s" % (left, json.dumps(first)))  # it counts down
    os.makedirs(PICTURES, exist_ok=True)
    for name, how in (("open", {}), ("open-phone", {"width": 390, "mobile": True})):
        width = browser.look(os.path.join(PICTURES, name + ".png"), **how)
        assert width <= how.get("width", 1120), "%s: it scrolls sideways" % name
    waits.close()
    browser.until(rows + " === 1")
    sends.close()
    browser.until(shown + " === 'None is open for more than a second.'")
    clean(browser, forward.url)


class Foreign(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>evil</title>")

    def log_message(self, *arguments):
        pass


@pytest.mark.parametrize("how", ["fetch", "form"])
def test_another_page_clears_nothing(lab, door, browser, how):
    config, forward = door
    t = lab.turnpike(lab.provider(then=status(500)), dict(config, **BLACKLIST), allow=ALLOW, probe=False)
    list_it(lab, t)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Foreign)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser.open("http://127.0.0.1:%d/" % server.server_address[1])
    browser.until("document.title === 'evil'")
    target = forward.url + "/blacklist/clear"
    if how == "fetch":
        browser.run("fetch(%r, {method: 'POST', mode: 'no-cors'}).catch(() => 0).then(() => 1)" % target)
    else:
        browser.run("(f => { f.method = 'POST'; f.action = %r; document.body.append(f); f.submit(); })"
                    "(document.createElement('form'))" % target)
        browser.until("document.body.innerText.includes('Origin')")
    server.shutdown()
    server.server_close()
    assert "server errors" not in run("blacklist", "-c", t.file).stderr
    assert len(json.loads(run("blacklist", "list", "--json", "-c", t.file).stdout)) == 1


# ---- an hour, and how it looks

def traffic(lab, t, u, chance, minute):
    """What a minute brings: `u` answers each request by a script of its own."""
    kinds = [("good", [], 80), ("busy", [status(503)], 9 + 10 * (18 < minute < 26)),
             ("capacity", [status(429, headers=[("Retry-After", "1")])], 0),
             ("error", [], 2), ("reset", [reset()], 1 + 6 * (20 < minute < 24))]
    calls = []
    for i in range(chance.randint(5, 9) + (12 if minute > 28 else 0)):
        kind, steps, _ = chance.choices(kinds, [weight for _, _, weight in kinds])[0]
        name = "%s-%d-%d" % (kind, minute, i)
        u.row(name, *steps, then=status(400, body=b"{}") if kind == "error" else ok())
        calls.append(lambda name=name: lab.post(t, headers={"x-row": name}))
    lab.side_by_side(calls, 24)


def history(t):
    return json.loads(ask(t.admins[0], "GET", "/stats?history=1").body)["history"]


def test_the_hour_and_its_pictures(lab, door, browser):
    config, forward = door
    clock, chance = ShiftedClock(lab.folder), random.Random(7)
    codex, backup, local = lab.provider(then=ok()), lab.provider(then=status(500)), lab.provider(then=ok())
    over = dict(config, **BLACKLIST)
    over.update(retry={"transient": {"base": "60ms", "cap": "200ms"}},
                routes=[{"path": "/v1", "provider": "codex"}, {"path": "/backup", "provider": "backup"},
                        {"path": "/local", "provider": "local"}],
                combos={"coder": {"targets": [{"provider": "codex", "model": "gpt-5-codex"},
                                              {"provider": "local", "model": "qwen3-coder"}]}})
    t = lab.turnpike({name: {"url": u.url(), "keys": ["key-of-" + name]}
                      for name, u in (("codex", codex), ("backup", backup), ("local", local))}, over, allow=ALLOW + ["."], env=clock.env)
    for minute in range(40):
        traffic(lab, t, codex, chance, minute)
        clock.shift(60)
        until(lambda: history(t)["samples"][-2][0] == 0, 5, "the minute has its sample")
    before = history(t)["samples"]
    assert [row[0] for row in before[:-1]] == list(range(len(before) - 2, -1, -1)) and len(before) >= 41

    admin = t.admin_process()
    os.kill(admin, 9)
    until(lambda: t.admin_process() not in (None, admin), 5, "another admin process")
    after = until(lambda: history(t)["samples"], 5, "it answers")
    assert [row[2:] for row in after[:len(before) - 2]] == [row[2:] for row in before[:-2]]

    for _ in range(3):
        lab.post(t, "/backup/chat/completions", headers=ONCE)
    local.main.set(status(429, headers=[("Retry-After", "95")]), then=ok())
    codex.main.set(status(503), status(503), then=ok())
    lab.post(t, body=json.dumps({"model": "coder", "messages": [{"role": "user", "content": "Hi."}]}).encode())
    browser.open(forward.url + "/")
    browser.until(ROWS + ".includes('Listed')")
    bars = "document.querySelectorAll('#charts rect.f-ok').length"
    drawn = browser.run(bars)
    assert drawn >= 40
    browser.open(forward.url + "/")
    browser.until(bars + " >= %d" % drawn)  # a reload of the page loses nothing
    os.makedirs(PICTURES, exist_ok=True)
    for name, how in (("light", {}), ("dark", {"dark": True}), ("phone", {"width": 390, "mobile": True}),
                      ("phone-dark", {"width": 390, "mobile": True, "dark": True})):
        width = browser.look(os.path.join(PICTURES, name + ".png"), **how)
        assert width <= how.get("width", 1120), "%s: it scrolls sideways" % name
    clean(browser, forward.url)
