"""A page in Chromium that a test works with as a person does: by clicks and keys, over the DevTools protocol."""

import base64
import contextlib
import fcntl
import json
import os
import select
import subprocess
import time

from support.box import PATIENCE_S
from support.chromium import FLAGS
from support.waiting import wait_until

# The pipes of --remote-debugging-pipe: messages end with NUL.
READS, WRITES = 3, 4


class DrivenPage:
    """`chromium`: support.chromium.Chromium, whose home has the authorities that are trusted."""

    def __init__(self, chromium, *flags):
        self.errors = []  # of scripts and of the content security policy
        self._events, self._number, self._rest = [], 0, b""
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_child, from_child)]
        environment = {**os.environ, "HOME": str(chromium.home), "XDG_CONFIG_HOME": str(chromium.home)}
        self._process = subprocess.Popen(
            ["chromium", *FLAGS, *flags, f"--user-data-dir={chromium.home}/driven", "--remote-debugging-pipe", "about:blank"],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(READS, WRITES),
            preexec_fn=lambda: (os.dup2(ends[0], READS), os.dup2(ends[1], WRITES)))
        for end in (to_child, from_child, *ends):
            os.close(end)
        self._session = None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with contextlib.suppress(AssertionError, OSError):
            self._session = None
            self("Browser.close")
        self._process.wait(PATIENCE_S)
        os.close(self._out)
        os.close(self._in)

    def _message(self, deadline):
        while b"\0" not in self._rest:
            wait_s = max(0, deadline - time.monotonic())
            assert select.select([self._in], [], [], wait_s)[0], "Chromium does not answer"
            read = os.read(self._in, 1 << 20)
            assert read, "Chromium has ended"
            self._rest += read
        message, self._rest = self._rest.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        self._events.append(event)
        if event["method"] == "Runtime.exceptionThrown":
            self.errors.append(event["params"]["exceptionDetails"])
        entry = event["params"].get("entry", {}) if event["method"] == "Log.entryAdded" else {}
        # The browser also reports each answer above 399.
        if entry.get("level") == "error" and entry["source"] != "network":
            self.errors.append(entry)

    def __call__(self, method, **parameters):
        """A command of the protocol; its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S * 2
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]
            if "method" in answer:
                self._note(answer)

    def open(self, url):
        self._events.clear()
        result = self("Page.navigate", url=url)
        assert "errorText" not in result, result
        deadline = time.monotonic() + PATIENCE_S * 2
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            message = self._message(deadline)
            if "method" in message:
                self._note(message)

    def sent(self):
        """[(method, URL)] of the requests since the page was opened."""
        self("Runtime.evaluate", expression="0")
        requests = [event["params"]["request"] for event in self._events if event["method"] == "Network.requestWillBeSent"]
        return [(request["method"], request["url"]) for request in requests]

    def run(self, expression):
        """The value of an expression of JavaScript, of a promise's too."""
        result = self("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def until(self, expression):
        """Waits until the expression is true; its value."""
        return wait_until(lambda: self.run(expression),
                          lambda: (expression, self.run("document.activeElement.outerHTML"), self.errors))

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector):
        """Where the element is seen; fails where something else covers it."""
        found = f"document.querySelector({json.dumps(selector)})"
        self.until(f"{found} !== null")
        x, y, hit = self.run(f"""(() => {{
          const element = {found};
          element.scrollIntoView({{block: 'center', behavior: 'instant'}});
          const box = element.getBoundingClientRect();
          const [x, y] = [box.left + Math.min(box.width / 2, 40), box.top + box.height / 2];
          const top = document.elementFromPoint(x, y);
          return [x, y, top !== null && (element.contains(top) || top.contains(element))];
        }})()""")
        assert hit, f"{selector} is covered or out of sight"
        for kind in ("mousePressed", "mouseReleased"):
            self("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector, text):
        """In the place of what the field has."""
        self.click(selector)
        self.run(f"document.querySelector({json.dumps(selector)}).select()")
        self("Input.insertText", text=text)

    def show(self, width, height, dark=False):
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, file):
        file.write_bytes(base64.b64decode(self("Page.captureScreenshot", format="png")["data"]))
