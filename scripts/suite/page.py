"""The status page in a real browser: headless Chromium, driven over its debugging pipe.

The page of a Mayfly with load and with keys whose names are meant to break out of it is opened dark and light, and at the
width of a small telephone. It must draw what /status.json says, fit its width, ask nobody else for anything, and run
nothing but its own script. The pictures are kept in build/page.
"""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

import metered
from metered import PATIENCE_S, Client, Mayfly, checked, eventually, http, require

# name, width, height, colour scheme
VIEWS = (("light", 1120, 1500, "light"), ("dark", 1120, 1500, "dark"), ("phone", 320, 3300, "dark"))
HOSTILE = (
    b"<img src=x onerror=\"document.title='broken'\">",
    b"</script><script>document.title='broken'</script>",
    b"\"];document.title='broken';//",
    bytes(range(0, 40)) + b"\xff\xfe\xe2\x80\xae" + "Gr\u00fc\u00dfe".encode(),
    b"a" * 300,
)


class Browser:
    """Chromium with one tab. The protocol is that of --remote-debugging-pipe: JSON texts, each ended by a NUL byte."""

    def __init__(self, folder):
        command_read, self._out = os.pipe()
        self._in, answer_write = os.pipe()
        words = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars"]
        words += ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio"]
        words += [f"--user-data-dir={folder}", "--remote-debugging-pipe", "about:blank"]
        # The pipe's ends have to be descriptors 3 and 4.
        shell = ["bash", "-c", f'exec "$@" 3<&{command_read} 4>&{answer_write}', "bash", *words]
        self._process = subprocess.Popen(
            shell,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(command_read, answer_write),
        )
        os.close(command_read)
        os.close(answer_write)
        self._buffer, self._number, self._session = b"", 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(domain + ".enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)

    def call(self, method, **parameters):
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            said = self._receive(PATIENCE_S)
            if said.get("id") != self._number:
                self.events.append(said)
                continue
            require("error" not in said, f"{method}: {said.get('error')}")
            return said["result"]

    def _receive(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(end - time.monotonic(), 0))
            require(ready, "Chromium does not answer")
            piece = os.read(self._in, 1 << 20)
            require(piece, "Chromium has ended")
            self._buffer += piece
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def evaluate(self, expression):
        said = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        require("exceptionDetails" not in said, said.get("exceptionDetails"))
        return said["result"].get("value")

    def show(self, url, width, height, scheme, script=True):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Emulation.setScriptExecutionDisabled", value=not script)
        loader = self.call("Page.navigate", url=url)["loaderId"]
        # Until then a question may be about the page before, or about half of this one.
        while not any(event["method"] == "Page.lifecycleEvent" and _is_load(event["params"], loader) for event in self.events):
            self.events.append(self._receive(PATIENCE_S))

    def picture(self, path, **clip):
        part = {"clip": clip} if clip else {}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=False, **part)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def close(self):
        os.close(self._out)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._in)


def _is_load(params, loader):
    return params["name"] == "load" and params["loaderId"] == loader


def text_of(browser, name):
    return browser.evaluate(f"document.getElementById('{name}').textContent")


def drawn(browser, mayfly, view, pictures):
    name, width, height, scheme = view
    browser.events.clear()
    browser.show(f"http://127.0.0.1:{mayfly.metrics_port}/", width, height, scheme)
    eventually("two polls", lambda: browser.evaluate("document.querySelectorAll('#ops-line path').length") == 1)
    require(browser.evaluate("document.title") == "Mayfly", "a key's name has run as a script")
    require(browser.evaluate("document.images.length") == 0, "a key's name has become a picture")
    require(text_of(browser, "state") == "ready", "the state is not ready")
    require(browser.evaluate("document.querySelectorAll('#wheel path').length") == 7 * 64, "the wheel has not 7 rings of 64 slots")
    require(browser.evaluate("document.querySelectorAll('#wheel path.full').length") > 5, "the wheel is empty")
    require(browser.evaluate("document.querySelectorAll('#ttl tr').length") == 2 * 10, "there are not 10 ranges of time")
    require("front page" in text_of(browser, "hot"), "the hot key is not shown")
    require("master" in text_of(browser, "replication"), "the role is not shown")
    require(text_of(browser, "replicas") == "No replica follows this server.", "there are replicas")
    big = text_of(browser, "big")
    for part in ("<img src=x onerror=", "</script><script>", "\\x00\\x01", "\\xff\\xfe", "300 bytes"):
        require(part in big, f"{part} is not shown among the big keys: {big}")
    require(browser.evaluate("document.documentElement.scrollWidth") <= width, f"the page is wider than {width} px")
    # As far as the eye can tell: every text is in a box that it fits.
    wide = browser.evaluate(
        "[...document.querySelectorAll('.card *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
        ".map(e => e.tagName + ' ' + e.id).join()"
    )
    require(wide == "", f"beyond the right edge: {wide}")
    browser.picture(os.path.join(pictures, name + ".png"))
    own = f"http://127.0.0.1:{mayfly.metrics_port}/"
    for event in browser.events:
        if event["method"] == "Network.requestWillBeSent":
            url = event["params"]["request"]["url"]
            require(url in (own, own + "status.json", own + "favicon.ico"), f"the page asked for {url}")
        require(event["method"] != "Runtime.exceptionThrown", event["params"])
        if event["method"] == "Log.entryAdded":
            entry = event["params"]["entry"]
            require("favicon" in entry.get("url", "") or entry["level"] not in ("error", "warning"), entry)


def readme_picture(browser, mayfly, pictures):
    """The upper half of the page after some polls. docs/operating.md shows tests/page/status.png: copy it if the page looks otherwise."""
    browser.show(f"http://127.0.0.1:{mayfly.metrics_port}/", 1120, 736, "light")
    eventually("some polls", lambda: browser.evaluate("document.querySelector('#ops-line path')?.getAttribute('d').split('L').length ?? 0") >= 8)
    browser.picture(os.path.join(pictures, "readme.png"), x=0, y=0, width=1120, height=736, scale=0.65)


def refuses_strangers(browser, mayfly):
    """The policy forbids what is not the page's own, also to a script that got in."""
    browser.show(f"http://127.0.0.1:{mayfly.metrics_port}/", 1120, 1500, "light")
    eventually("the page", lambda: browser.evaluate("document.getElementById('live') !== null && !document.getElementById('live').hidden"))
    browser.evaluate("const s = document.createElement('script'); s.textContent = \"document.title = 'broken'\"; document.body.append(s)")
    require(browser.evaluate("document.title") == "Mayfly", "a foreign script has run")
    outside = "fetch('http://localhost:1/').then(() => 'fetched', e => String(e))"
    require("TypeError" in browser.evaluate(outside), "the page may fetch from elsewhere")
    require(browser.evaluate("document.body.innerHTML = '<style>body { color: rgb(1, 2, 3) }</style>'; getComputedStyle(document.body).color") != "rgb(1, 2, 3)", "a foreign style has an effect")


def reads_without_script(browser, mayfly, pictures):
    browser.show(f"http://127.0.0.1:{mayfly.metrics_port}/", 320, 700, "light", script=False)
    eventually("the summary", lambda: "hit ratio" in _plain_text(browser))
    browser.picture(os.path.join(pictures, "no-script.png"))


def _plain_text(browser):
    root = browser.call("DOM.getDocument", depth=-1)["root"]
    return browser.call("DOM.getOuterHTML", nodeId=root["nodeId"])["outerHTML"]


def shows_the_loss(browser, mayfly):
    browser.show(f"http://127.0.0.1:{mayfly.metrics_port}/", 1120, 1500, "light")
    eventually("the page", lambda: text_of(browser, "state") == "ready")
    os.kill(mayfly.pid, signal.SIGTERM)
    eventually("the page notices", lambda: text_of(browser, "state") == "no answer")


def json_is_json(mayfly):
    status = json.loads(http(mayfly.metrics_port, "/status.json"))
    require(status["keys"] > 0 and len(status["wheel"]) == 7 and len(status["big"]) >= len(HOSTILE), status)


def run(tally, root, daemon):
    pictures = os.path.join(root, "build", "page")
    shutil.rmtree(pictures, ignore_errors=True)
    os.makedirs(pictures)
    with tempfile.TemporaryDirectory() as folder, Mayfly(daemon, "--maxmemory", "64mb") as mayfly:
        browser = Browser(folder)
        try:
            client = Client(mayfly.port)
            client.pipeline([("SET", name, "v" * (20_000 + 9_000 * i)) for i, name in enumerate(HOSTILE)])
            client.close()
            with metered.load(mayfly.port):
                eventually("some load", lambda: "mayfly_expired_keys_total 0\n" not in http(mayfly.metrics_port, "/metrics"))
                checked(tally, "/status.json is JSON", lambda: json_is_json(mayfly))
                for view in VIEWS:
                    checked(tally, f"the status page, {view[0]}", lambda v=view: drawn(browser, mayfly, v, pictures))
                checked(tally, "the status page, for the manual", lambda: readme_picture(browser, mayfly, pictures))
                checked(tally, "the status page without JavaScript", lambda: reads_without_script(browser, mayfly, pictures))
                checked(tally, "the status page runs nothing foreign", lambda: refuses_strangers(browser, mayfly))
            checked(tally, "the status page says when nobody answers", lambda: shows_the_loss(browser, mayfly))
        finally:
            browser.close()
    print(f"    pictures: {os.path.relpath(pictures, root)}", flush=True)
