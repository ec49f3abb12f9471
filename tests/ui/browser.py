"""Headless Chromium through its DevTools pipe: NUL-separated JSON over descriptors 3 and 4.  Standard library only."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

BINARY = shutil.which("chromium")
FLAGS = """--headless=new --remote-debugging-pipe --no-first-run --disable-gpu --disable-extensions --hide-scrollbars
--disable-background-networking --disable-component-update --disable-sync --disable-default-apps --no-pings
--disable-dev-shm-usage --force-color-profile=srgb""".split()


class Browser:
    """One process with one page.  `messages`: everything it told by itself, in order."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="turnpike-chromium-")
        to_it, self._write = os.pipe()
        self._read, from_it = os.pipe()
        sandbox = ["--no-sandbox"] if os.getuid() == 0 else []  # root has none

        def place():  # above 4 first, so that neither is written over
            a, b = os.dup(to_it), os.dup(from_it)
            os.dup2(a, 3)
            os.dup2(b, 4)

        self.process = subprocess.Popen([BINARY, *FLAGS, *sandbox, "--user-data-dir=" + self.folder, "about:blank"],
                                        preexec_fn=place, pass_fds=(3, 4), stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                                        env=dict(os.environ, HOME=self.folder))
        os.close(to_it)
        os.close(from_it)
        self._number, self._buffer, self.session, self.messages = 0, b"", None, []
        target = self.ask("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Audits"):
            self.ask(domain + ".enable")

    # -- the protocol
    def ask(self, method, **params):
        self._number += 1
        message = {"id": self._number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        number = self._number
        while True:
            answer = self._next(60)
            if answer.get("id") == number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def _next(self, timeout):
        end = time.monotonic() + timeout
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0, end - time.monotonic()))
            assert ready, "the browser says nothing"
            piece = os.read(self._read, 1 << 16)
            assert piece, "the browser is gone"
            self._buffer += piece
        text, self._buffer = self._buffer.split(b"\0", 1)
        message = json.loads(text)
        if "id" not in message:
            self.messages.append(message)
        return message

    # -- the page
    def open(self, url):
        self.messages.clear()
        self.ask("Page.navigate", url=url)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of an expression in the page; a promise is waited for."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def until(self, script, timeout=20, step=0.1):
        end = time.monotonic() + timeout
        while True:
            if self.run("!!(%s)" % script):  # a node has no value here
                return
            assert time.monotonic() < end, "not within %d s: %s\n%s" % (timeout, script, self.run("document.body.innerText"))
            time.sleep(step)

    def key(self, name, code, text=""):
        for kind in ("keyDown", "keyUp"):
            self.ask("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code,
                     **({"text": text} if kind == "keyDown" and text else {}))

    def click(self, selector):
        """With the mouse, at its middle, as a person would."""
        x, y = self.run("(e => { e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
                        " return [r.x + r.width / 2, r.y + r.height / 2]; })(document.querySelector(%s))"
                        % json.dumps(selector))
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def look(self, path, width=1120, dark=False, mobile=False):
        """The whole page as a picture; the width that its content takes."""
        scheme = "dark" if dark else "light"
        self.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=800, deviceScaleFactor=2 if mobile else 1,
                 mobile=mobile)
        time.sleep(0.3)  # the transition, and one layout
        picture = self.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(picture["data"]))
        taken = self.run("document.documentElement.scrollWidth")
        self.ask("Emulation.clearDeviceMetricsOverride")
        return taken

    def complaints(self):
        """What a clean page has none of: errors, warnings, violations of its policy, failed requests."""
        found = []
        for m in self.messages:
            method, p = m.get("method"), m.get("params", {})
            if method == "Runtime.exceptionThrown" or method == "Network.loadingFailed" and not p.get("canceled"):
                found.append(p)
            elif method == "Runtime.consoleAPICalled" and p["type"] in ("error", "warning", "assert"):
                found.append(p)
            elif method == "Log.entryAdded" and p["entry"]["level"] in ("error", "warning"):
                found.append(p)
            elif method == "Audits.issueAdded":
                found.append(p)
        return found

    def urls(self):
        return [m["params"]["request"]["url"] for m in self.messages if m.get("method") == "Network.requestWillBeSent"]

    def close(self):
        for fd in (self._write, self._read):
            os.close(fd)
        try:
            self.process.wait(5)  # it leaves with its pipe
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(5)
        shutil.rmtree(self.folder, ignore_errors=True)
