"""Pages in Chromium that a test works with as a person does: by clicks and keys, over the DevTools protocol."""

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


class Browser:
    """A running Chromium, whose pages are used side by side. `chromium`: support.chromium.Chromium, whose home has the authorities
    that are trusted. `program`: another one than Debian's."""

    def __init__(self, chromium, *flags, program="chromium"):
        self._number, self._rest, self.pages = 0, b"", {}
        to_child, self._out = os.pipe()
        self._in, from_child = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 10) for end in (to_child, from_child)]
        environment = {**os.environ, "HOME": str(chromium.home), "XDG_CONFIG_HOME": str(chromium.home)}
        self.process = subprocess.Popen(
            [program, *FLAGS, *flags, f"--user-data-dir={chromium.home}/driven", "--remote-debugging-pipe", "about:blank"],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(READS, WRITES),
            preexec_fn=lambda: (os.dup2(ends[0], READS), os.dup2(ends[1], WRITES)))
        for end in (to_child, from_child, *ends):
            os.close(end)

    def close(self):
        with contextlib.suppress(AssertionError, OSError):
            self.send(None, "Browser.close")
        try:
            self.process.wait(PATIENCE_S / 4)
        except subprocess.TimeoutExpired:  # those of before 2022 do not end
            self.process.kill()
            self.process.wait(PATIENCE_S)
        os.close(self._out)
        os.close(self._in)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def page(self, apart=False):
        """A new page in a window of its own (a tab behind another one draws nothing); `apart` with a storage of its own, as on
        another tablet."""
        context = {"browserContextId": self.send(None, "Target.createBrowserContext")["browserContextId"]} if apart else {}
        target = self.send(None, "Target.createTarget", url="about:blank", newWindow=True, **context)["targetId"]
        return Page(self, target)

    def message(self, deadline):
        """The next one; events are noted by their page."""
        while b"\0" not in self._rest:
            wait_s = max(0, deadline - time.monotonic())
            assert select.select([self._in], [], [], wait_s)[0], "Chromium does not answer"
            read = os.read(self._in, 1 << 20)
            assert read, "Chromium has ended"
            self._rest += read
        message, self._rest = self._rest.split(b"\0", 1)
        message = json.loads(message)
        page = self.pages.get(message.get("sessionId"))
        if page is not None and "method" in message:
            page.note(message)
        return message

    def send(self, session, method, **parameters):
        """A command of the protocol; its result."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S * 2
        while True:
            answer = self.message(deadline)
            if answer.get("id") == message["id"]:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]


class Page:
    def __init__(self, browser, target):
        self.errors = []  # of scripts and of the content security policy
        self.browser, self._target, self._events = browser, target, []
        self._session = browser.send(None, "Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        browser.pages[self._session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self(domain + ".enable")

    def note(self, event):
        self._events.append(event)
        if event["method"] == "Runtime.exceptionThrown":
            self.errors.append(event["params"]["exceptionDetails"])
        entry = event["params"].get("entry", {}) if event["method"] == "Log.entryAdded" else {}
        # The browser also reports each answer above 399.
        if entry.get("level") == "error" and entry["source"] != "network":
            self.errors.append(entry)

    def __call__(self, method, **parameters):
        return self.browser.send(self._session, method, **parameters)

    def close(self):
        del self.browser.pages[self._session]
        self.browser.send(None, "Target.closeTarget", targetId=self._target)

    def open(self, url):
        self._events.clear()
        result = self("Page.navigate", url=url)
        assert "errorText" not in result, result
        deadline = time.monotonic() + PATIENCE_S * 2
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self.browser.message(deadline)

    def events(self, name):
        """What the protocol has told by that name since the page was opened."""
        self("Runtime.evaluate", expression="0")
        return [event["params"] for event in self._events if event["method"] == name]

    def requests(self):
        """Those since the page was opened: method, url, headers."""
        return [event["request"] for event in self.events("Network.requestWillBeSent")]

    def sent(self):
        """[(method, URL)] of the requests since the page was opened."""
        return [(request["method"], request["url"]) for request in self.requests()]

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
        self("Emulation.setEmulatedMedia", media="", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, file):
        file.write_bytes(base64.b64decode(self("Page.captureScreenshot", format="png")["data"]))


class DrivenPage(Page):
    """The one page of a Chromium of its own."""

    def __init__(self, chromium, *flags, program="chromium"):
        browser = Browser(chromium, *flags, program=program)
        super().__init__(browser, browser.send(None, "Target.createTarget", url="about:blank")["targetId"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.close()
