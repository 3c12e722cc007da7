"""Golden answers: every answer of the API, byte for byte, as an earlier program gave it (tests/golden/answers).

They are for changes that must not be seen from outside: a refactoring leaves every line of them as it is. A change of the
API that is meant shows as the lines that it changes: record them anew with --record-answers and read the difference."""

import difflib
import importlib
import re

import pytest

from support.answers import recorder, wait_for_an_hour_of_one_day
from support.box import ROOT, Box
from support.routes import ALL_ROUTES

GOLDEN = ROOT / "tests/golden/answers"
WALKS = ["open_paths", "framing", "refusals", "orders", "lists", "restaurant", "keys", "webhooks", "kitchen"]
HEAD = """\
# What the server answers to a fixed walk of requests (tests/golden/walks/{name}.py), as it gave it when it was recorded.
# A refactoring changes no byte that a client sees: it leaves this file as it is. Never edit it by hand; a change of the
# API that is meant records it anew, and its difference is reviewed like code:
#   /usr/bin/python3 -m pytest -q tests/api/test_golden_answers.py --record-answers
# > is asked, < is answered; the lines of a JSON body, joined, are its bytes. What differs from run to run has a name in
# braces. Many answers are shown by how they differ from a like one: @ names the lines of that one which are replaced."""


# /readyz and /metrics of comanda-head have other rows.
@pytest.mark.parametrize("name", [pytest.param("open_paths", marks=pytest.mark.box_only), *WALKS[1:]])
def test_every_answer_is_as_it_was(name, request):
    walk = importlib.import_module(f"golden.walks.{name}")
    wait_for_an_hour_of_one_day()
    box = Box()
    if hasattr(walk, "options"):
        box.options += walk.options(box)
    try:
        with recorder(box, [ROOT / "src/web/openapi.json", CLIENTS / "till/till.py", CLIENTS / "android_till/src/OfflineTill.kt"]) as r:
            walk.walk(r)
        found = "\n".join([HEAD.format(name=name), *r.text, ""])
    finally:
        assert box.discard() == 0, "the server did not end cleanly"
    file = GOLDEN / f"{name}.txt"
    if request.config.getoption("--record-answers", default=False):
        GOLDEN.mkdir(exist_ok=True)
        file.write_text(found)
        return
    expected = file.read_text()
    changed = list(difflib.unified_diff(expected.split("\n"), found.split("\n"), str(file.relative_to(ROOT)),
        "this program", "", "", 8))
    assert not changed, f"{len(r.titles)} requests; what changed:\n" + "\n".join(changed[:120])


def recorded():
    """(method, path, status) of every request of the files."""
    for file in GOLDEN.glob("*.txt"):
        statuses = {}
        for block in file.read_text().split("\n== ")[1:]:
            title = block.split("\n")[0]
            asked = re.search(r"^> ([A-Z]+) (/.*?)(?:\?.*)? \(as ", block, re.MULTILINE)
            own, alike = re.search(r'^< (?:HTTP/1.1 (\d+)|as "(.*)")', block, re.MULTILINE).groups()
            statuses[title] = int(own) if own else statuses[alike]
            if asked:
                yield *asked.groups(), statuses[title]


# Pages that differ from machine to machine: tests/api/test_setup_port.py.
CLIENTS = ROOT / "tests/openapi/clients"
OF_THE_MACHINE = {"/", "/setup", "/ca.crt", "/ca.mobileconfig"}
# Need a second server: tests/cloud, tests/api/test_store_status.py.
OF_OTHERS = ("/control/cloud", "/control/provider")


@pytest.mark.parametrize("route", [one for one in ALL_ROUTES if one.pattern not in OF_THE_MACHINE
                                   and not one.pattern.startswith(OF_OTHERS)], ids=str)
def test_every_route_is_asked_with_success_and_in_vain(route):
    pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", route.pattern))
    statuses = {status for method, path, status in recorded() if method == route.method and pattern.fullmatch(path)}
    assert statuses & {200, 201}, statuses
    assert max(statuses) >= 400 or route.access == "open", statuses
