"""What the kitchen display says of the world around the box: the internet and the cloud, each on its own, true and true again.
The box has an internet of the test's own (support/internet.py), in which the cloud has a public address."""

import contextlib
import json

import pytest

from support.box import Box
from support.chromium import Chromium
from support.cloud_faults import burst
from support.driven_page import Browser
from support.internet import Internet, joined
from support.kitchen_wall import Wall, until_shown
from support.strict_cloud import StrictCloud
from support.waiting import wait_until

ADDRESS = "93.184.216.34"
# The page reads /readyz every 20 s; a request that meets a line without an end waits for its own limit first.
TRUE_WITHIN_S = 30
OUTSIDE = "Array.from(document.querySelectorAll('.truth .outside')).map((each) => each.dataset.of + ' | ' + each.innerText)"


def ends_the_connection(request):
    raise ConnectionResetError(request)


class Kitchen:
    """A box with a display, a cloud that it is not linked with yet, and the cable between them."""

    def __init__(self, stack, directory, demo):
        self.directory = directory
        self.internet = Internet({"cloud.example": ADDRESS})
        stack.callback(self.internet.close)
        (directory / "cloud").mkdir()
        with joined(self.internet.servers):
            self.cloud = StrictCloud(directory=directory / "cloud", address=ADDRESS)
        stack.callback(self.close_cloud)
        stack.enter_context(joined(self.internet.box))
        self.box = Box(options=["--sandbox-listen", "", "--cloud-poll-seconds", "5"], engine="sqlite")
        self.box.wrapper = self.internet.box.entering
        stack.callback(self.box.discard)
        self.box.bring_in()
        self.box.start()
        browser = stack.enter_context(Browser(Chromium(directory / "chromium", [self.box.cafile]), "--autoplay-policy=no-user-gesture-required"))
        self.wall = Wall(self.box, demo, browser)
        self.page = self.wall.display()

    def close_cloud(self):
        if self.cloud:
            self.cloud.faults.append(ends_the_connection)
            self.cloud.close()
            self.cloud = None

    def link(self):
        file = self.directory / "cloud.key"
        file.write_text(self.cloud.make_key() + "\n")
        file.chmod(0o600)
        self.box.command("cloud", "link", "--data", str(self.box.data), "--url", self.cloud.url, "--key-file", str(file), "--ca-file",
                         str(self.cloud.cafile), "--timezone", "America/Lima", "--country", "PE")

    def cable(self, state):
        self.internet.servers.run("ip", "link", "set", "eth0", state)

    def codes(self):
        checks = self.wall.api.get("/readyz").json["checks"]
        return checks["internet"]["code"], checks["sync"]["code"]

    def until_codes(self, internet, *cloud):
        def fits():
            codes = self.codes()
            return codes[0] == internet and codes[1] in cloud
        wait_until(fits, lambda: self.wall.api.get("/readyz").body, 120)

    def until_bar(self, fits, is_read_now=True):
        if is_read_now:
            self.read_again()
        wait_until(lambda: fits(self.page.run(OUTSIDE)), lambda: self.page.run(OUTSIDE), TRUE_WITHIN_S)
        return self.page.run(OUTSIDE)

    def read_again(self):
        """As when the tablet is taken up: the page reads what the box says, and has drawn it when this returns."""
        before = len([url for _, url in self.page.sent() if url.endswith("/readyz")])
        self.page.run("document.dispatchEvent(new Event('visibilitychange'))")
        wait_until(lambda: len([url for _, url in self.page.sent() if url.endswith("/readyz")]) > before, self.page.sent)


@pytest.fixture
def kitchen(tmp_path, demo):
    with contextlib.ExitStack() as stack:
        made = Kitchen(stack, tmp_path, demo)
        yield made
        assert made.page.errors == []


def test_internet_and_cloud_are_told_apart_and_each_is_true_again(kitchen):
    page = kitchen.page
    order = kitchen.wall.order("Lomo")
    until_shown(page, lambda cards: [card["order"] for card in cards] == [order["id"]])
    assert kitchen.codes() == ("unknown", "not_linked")
    kitchen.read_again()
    assert page.run(OUTSIDE) == []

    kitchen.link()
    kitchen.until_codes("ok", "in_step")
    kitchen.read_again()
    assert page.run(OUTSIDE) == []

    # The cloud answers with errors: the internet works.
    kitchen.cloud.faults.append(burst(503, 10**9))
    kitchen.until_codes("ok", "failing")
    (line,) = kitchen.until_bar(lambda lines: lines, is_read_now=False)
    assert line.startswith("cloud | Nube: responde con errores desde las ") and "nternet" not in line

    # The cable is away: one truth, that of the internet.
    kitchen.cloud.behave()
    kitchen.until_codes("ok", "in_step")
    kitchen.until_bar(lambda lines: lines == [])
    kitchen.cable("down")
    kitchen.until_codes("down", "unreachable")
    assert json.loads(kitchen.box.command("cloud", "status", "--json", "--data", str(kitchen.box.data), check=False).stdout)["internet"] == "down"
    (line,) = kitchen.until_bar(lambda lines: len(lines) == 1 and lines[0].startswith("internet"))
    assert line.startswith("internet | Internet: sin conexión desde las ")
    bar, tickets = page.run("[document.querySelector('.truth').getBoundingClientRect().bottom, document.querySelector('.card').getBoundingClientRect().top]")
    assert bar <= tickets

    # What the page cannot read it does not say.
    page("Network.setBlockedURLs", urls=["*/readyz"])
    kitchen.until_bar(lambda lines: lines == [])
    page("Network.setBlockedURLs", urls=[])
    kitchen.until_bar(lambda lines: len(lines) == 1)

    kitchen.cable("up")
    kitchen.box.command("cloud", "resume", "--data", str(kitchen.box.data))
    kitchen.until_codes("ok", "in_step")
    kitchen.until_bar(lambda lines: lines == [])

    # The cloud's own server is off, and its machine says so.
    kitchen.close_cloud()
    kitchen.until_codes("ok", "unreachable")
    (line,) = kitchen.until_bar(lambda lines: lines)
    assert line.startswith("cloud | Nube: no responde desde las ") and line.endswith("Internet funciona")

    page.click("nav button:nth-child(6)")
    told = page.text(".checks")
    assert "no responde desde las" in told and "funciona" in told and "pantallas: 1" in told
    english = json.dumps([check["state"] for check in kitchen.wall.api.get("/readyz").json["checks"].values()])
    assert "offline since" in english and "offline" not in told and "display" not in told
