"""The display while something else is wrong at the same time: a disk that is full or read-only, a key of another address or one that
has ended, clocks that step, a backup that is restored. What was touched is kept, said, and sent once in its order."""

import contextlib
import json
import subprocess

import pytest

from support.box import PATIENCE_S, Box, free_port
from support.disk import Disk, keep_mounts_to_ourselves, run
from support.kitchen_wall import MARKS, Wall, shown, until_shown
from support.orders import new_key
from support.waiting import wait_until
from support.wall_clock import ClockBox

TEXT_OF = "(document.querySelector({!r}) || {{innerText: ''}}).innerText"


def line_of(order, number=0):
    return order["combos"][number]["id"]


def touch(page, order, number=0):
    """By itself: where the cards move meanwhile, a pointer would meet another one."""
    page.run(f"document.querySelector('[data-line=\"{line_of(order, number)}\"]').click()")


def done(wall, order):
    return [line["done_at"] for line in wall.api.get("/v1/kitchen/tickets?per_page=100&filter[done_since]=2020-01-01T00:00:00Z").data
            for line in line["lines"] if line["id"] in [each["id"] for each in order["combos"]]]


@pytest.fixture(scope="module")
def box():
    made = Box(options=["--sandbox-listen", f"127.0.0.1:{free_port()}"])
    made.bring_in()
    made.bring_in(env="test")
    made.start()
    yield made
    assert made.discard() == 0


@pytest.fixture(scope="module")
def wall(demo, box, browser_of):
    with browser_of([box.cafile]) as browser:
        yield Wall(box, demo, browser)


@pytest.fixture
def held(screen):
    """A display whose marks do not reach the box, which answers all else."""
    def hold(is_held=True):
        screen("Network.setBlockedURLs", urls=["*/v1/kitchen/tickets/*"] if is_held else [])
    hold()
    screen.hold = hold
    yield screen
    hold(False)


# The disk

class FullDisk:
    """A small file system in memory."""

    def __init__(self, point):
        keep_mounts_to_ourselves()
        self.root = point
        point.mkdir()
        run("mount", "-t", "tmpfs", "-o", "size=80m,mode=700", "tmpfs", point)

    def fail(self, wall):
        """Until not even an order has room, which the box had kept some for."""
        def is_full():
            with contextlib.suppress(OSError), open(self.root / "filler", "ab", buffering=0) as out:
                while True:
                    out.write(b"x" * 4096)
            return wall.api.post("/v1/orders", {"service_type": "ONSITE"}, new_key()).status == 503

        wait_until(is_full, wall.box.log_text)

    def recover(self, _):
        (self.root / "filler").unlink()

    def discard(self):
        subprocess.run(["umount", "--lazy", self.root], check=True)


class WornDisk(Disk):
    """A card that the kernel has made read-only, and that somebody replaces."""

    def __init__(self, _):
        keep_mounts_to_ourselves()
        super().__init__("ext4", "loop,errors=remount-ro", 96 << 20)

    def fail(self, _):
        """What the kernel does where the card fails a write of the file system's own, with its files open."""
        run("mount", "-o", "remount,abort", self.root)

    def recover(self, box):
        box.kill()
        self.unmount()
        assert subprocess.run(["e2fsck", "-fp", self.image], capture_output=True).returncode in (0, 1)
        self.mount()
        box.start()


@pytest.mark.parametrize("kind, said", [(FullDisk, "full"), (WornDisk, "read-only")])
def test_marks_wait_for_a_disk_and_go_in_their_order(demo, browser_of, tmp_path, kind, said):
    try:
        disk = kind(tmp_path / "disk")
    except (PermissionError, AssertionError) as failure:
        pytest.skip(f"needs root: {failure}")
    with contextlib.ExitStack() as ends:
        ends.callback(disk.discard)
        data = disk.root / "data"
        data.mkdir()
        box = Box(data)
        box.log_path = tmp_path / "log"
        box.bring_in()
        box.start()
        ends.callback(box.kill_if_running)
        wall = Wall(box, demo, ends.enter_context(browser_of([box.cafile])))
        page = wall.display()
        one, two = wall.order("Lomo", "Ají"), wall.order("Sopa")
        until_shown(page, lambda cards: len(cards) == 2)
        disk.fail(wall)
        for order, number in ((one, 0), (two, 0), (one, 1)):
            touch(page, order, number)
        keys = page.run(MARKS + ".map((mark) => mark.id)")
        assert len(set(keys)) == 3
        page.until(f"/3 marcas por enviar/.test(document.querySelector('.truth').innerText) && {TEXT_OF.format('.truth')}.includes({said!r})")
        assert page.run("document.querySelector('.silent')") is None
        looks = {line: look for card in shown(page) for line, look in card["lines"]}
        assert looks == {line_of(one): "marked", line_of(one, 1): "marked", line_of(two): "marked"}
        page("Page.reload")
        until_shown(page, lambda cards: {line: look for card in cards for line, look in card["lines"]} == looks)
        assert page.run(MARKS + ".map((mark) => mark.id)") == keys

        disk.recover(box)
        page.until(f"{MARKS}.length === 0")
        until_shown(page, lambda cards: cards == [])
        assert "por enviar" not in page.text(".truth") and said not in page.text(".truth")
        ((first, third), (second,)) = done(wall, one), done(wall, two)
        assert first < second < third
        sent = [request["headers"].get("Idempotency-Key") for request in page.requests() if request["url"].endswith("/done")]
        assert [key for key in sent if key in keys] == sent and list(dict.fromkeys(sent)) == keys, (sent, keys)
        assert page.errors == []
        page.close()
        assert box.stop() == 0


# Keys

def until_let_out(page, reason):
    page.until(f"{TEXT_OF.format('.reason')}.includes({reason!r}) && /\\d{{3}} \\d{{3}}/.test({TEXT_OF.format('.big')})")
    assert page.run("Object.keys(localStorage).filter((name) => /key|mark|announced/.test(name)"
                    " && !/^(null|\\[\\])$/.test(localStorage.getItem(name))).length") == 0
    assert shown(page) == []


def test_a_key_of_the_sandbox_is_not_let_in_and_the_page_says_why(wall):
    key = wall.box.make_key(scopes="kitchen:read,kitchen:write", env="test")["key"]
    page = wall.blank()
    page("Page.addScriptToEvaluateOnNewDocument", source="if (!sessionStorage.getItem('seen')) { sessionStorage.setItem('seen', 1);"
         f" localStorage.setItem('comanda.kitchen.key', {json.dumps(json.dumps(key))}); }}")
    page.open(f"https://127.0.0.1:{wall.box.port}/kitchen")
    until_let_out(page, "of another address")  # in the browser's language: it knows no restaurant
    assert page.errors == []
    page.close()


def key_id(wall, name):
    (key,) = [key for key in wall.api.get("/auth/api-keys?per_page=100&filter[active]=true").data if key["name"] == name]
    return key["id"]


@pytest.mark.parametrize("how, reason", [("revoked", "fue retirado"), ("rotated", "fue retirado")])
def test_marks_that_wait_go_with_a_key_that_ends(wall, how, reason):
    """A screen that is shut out keeps nothing, and says so; whoever lets it in again sees what is still to be made."""
    page = wall.display(name=f"Freidora {how}")
    order = wall.order("Papas")
    until_shown(page, lambda cards: [card["order"] for card in cards] == [order["id"]])
    page("Network.setBlockedURLs", urls=["*/v1/kitchen/tickets/*"])
    touch(page, order)
    assert page.run(f"{MARKS}.length") == 1
    at = "/auth/api-keys/" + key_id(wall, f"Freidora {how}")
    answer = wall.api.delete(at) if how == "revoked" else wall.api.post(at + "/rotate", {"grace_seconds": 0})
    assert answer.status in (200, 201), answer.body
    until_let_out(page, reason)
    assert "1 marca no llegó a enviarse" in page.text(".reason")
    page("Network.setBlockedURLs", urls=[])
    number = page.run(TEXT_OF.format(".big") + ".replace(/\\D/g, '')")
    wall.box.command("pair", "accept", number, "--as", "kitchen", "--name", f"Otra {how}", "--data", str(wall.box.data))
    until_shown(page, lambda cards: [card["lines"] for card in cards] == [[[line_of(order), "waits"]]])
    assert wall.api.get(f"/v1/orders/{order['id']}").data["status"] == "PENDING"
    assert page.errors == []
    page.close()
    wall.clear()


def test_marks_go_with_a_key_that_was_rotated_and_still_lives(wall, held):
    order = wall.order("Papas")
    until_shown(held, lambda cards: [card["order"] for card in cards] == [order["id"]])
    touch(held, order)
    assert wall.api.post(f"/auth/api-keys/{key_id(wall, 'Parrilla')}/rotate", {"grace_seconds": 3600}).status in (200, 201)
    held.hold(False)
    wait_until(lambda: wall.api.get(f"/v1/orders/{order['id']}").data["status"] == "READY", lambda: held.text("body"))
    until_shown(held, lambda cards: cards == [])


# Clocks

TABLET = """(() => {
  const now = Date.now;
  let ahead = 2 * 365 * 86400000;
  Date.now = () => now() + ahead;
  window.step = (ms) => { ahead += ms; };
})()"""


def test_ages_and_order_are_right_while_the_clocks_of_box_and_tablet_step(demo, browser_of):
    box = ClockBox(synchronised=True)
    box.bring_in()
    box.start()
    with contextlib.closing(box.memory), browser_of([box.cafile]) as browser:
        wall = Wall(box, demo, browser)
        page = wall.display(before=TABLET)
        placed = []
        for number, (ahead_s, tablet_ms) in enumerate([(0, 0), (600, -86400000), (0, 86400000), (-600, -3 * 365 * 86400000), (0, 0)]):
            box.set_ahead(ahead_s)
            page.run(f"window.step({tablet_ms})")
            order = wall.order(f"Plato {number}")
            placed.append(order["id"])
            until_shown(page, lambda cards: order["id"] in [card["order"] for card in cards])
            wait_until(lambda: "0 min" in page.text(f"[data-order='{order['id']}']"), lambda: page.text("main"))
            wait_until(lambda: page.run("window.tones.length") == 3 * len(placed), lambda: page.run("window.tones"))
            # As the box sorts them, and none is older than its steps.
            assert [card["order"] for card in shown(page)] == [row["order_id"] for row in wall.tickets()]
            ages = page.run("Array.from(document.querySelectorAll('.minutes')).map((age) => parseInt(age.innerText))")
            assert max(ages) <= 10 and page.run("document.querySelector('.silent')") is None, ages
        for id_ in placed:
            page.run(f"document.querySelector(\"[data-order='{id_}'] .head\").click()")
        until_shown(page, lambda cards: cards == [])
        page.until(f"{MARKS}.length === 0")
        assert page.errors == []
        page.close()
        assert box.discard() == 0


# A restore

def restored(wall, backup):
    box = wall.box
    assert box.stop() == 0
    box.command("restore", str(backup), "--data", str(box.data), "--yes")
    box.start()


def test_marks_that_wait_for_a_box_that_is_restored(wall, held, tmp_path):
    """What the backup has is marked; of what it has not, the page says that the mark was not taken."""
    kept = wall.order("Lomo")
    wall.box.command("backup", str(tmp_path / "backup"), "--data", str(wall.box.data))
    lost = wall.order("Sopa")
    until_shown(held, lambda cards: [card["order"] for card in cards] == [kept["id"], lost["id"]])
    touch(held, lost)
    touch(held, kept)
    restored(wall, tmp_path / "backup")
    held.hold(False)
    until_shown(held, lambda cards: cards == [])
    held.until(f"{MARKS}.length === 0")
    wait_until(lambda: wall.api.get(f"/v1/orders/{kept['id']}").data["status"] == "READY", lambda: held.text("body"))
    assert wall.api.get(f"/v1/orders/{lost['id']}").status == 404
    assert f"orden {lost['order_number']}" in held.text(".truth"), held.text(".truth")
    assert held.run("window.tones.length") == 6


def test_a_restaurant_that_plays_goes_on_through_a_restore(wall, screen, tmp_path):
    """`comanda demo play`: what was sold after the backup is no more, what is sold afterwards is shown, and nothing else."""
    box = wall.box

    def tickets():
        return {row["order_id"]: row["revision"] for row in wall.api.get("/v1/kitchen/tickets?per_page=100&filter[state]=open,cancelled").data}

    def sold():
        return wall.api.get("/v1/orders?per_page=1").json["pagination"]["total"]

    with open(tmp_path / "out", "wb") as out:
        words = ["demo", "play", "--data", str(box.data), "--days", "0", "--speed", "60", "--seed", "7"]
        process = subprocess.Popen([str(box.binary), *words], stdout=out, stderr=subprocess.STDOUT)
    try:
        begun = sold()
        wait_until(lambda: sold() >= begun + 5, sold)
        box.command("backup", str(tmp_path / "backup"), "--data", str(box.data))
        at_backup = sold()
        wait_until(lambda: sold() >= at_backup + 5, sold)
        restored(wall, tmp_path / "backup")
        assert sold() <= at_backup + 5
        wait_until(lambda: sold() >= at_backup + 15, lambda: (sold(), (tmp_path / "out").read_text()))
        process.send_signal(2)
        assert process.wait(PATIENCE_S) == 0, (tmp_path / "out").read_text()
    finally:
        process.kill()
        process.wait()
    wait_until(lambda: {card["order"] for card in shown(screen)} == tickets().keys() and shown(screen),
               lambda: ({card["order"] for card in shown(screen)} ^ tickets().keys(), (tmp_path / "out").read_text()))
    for id_ in tickets():
        wall.orders.append(id_)
