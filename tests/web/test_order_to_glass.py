"""How long an order takes from the till's answer to the glass, in a full kitchen: 30 displays, 20 tills, 10 orders a second. Three of
the displays are pages in Chromium; two processors do not draw thirty, and the others ask as the page does (support/kitchen_crowd.py)."""

import pytest

from support.box import LONG
from support.kitchen_crowd import Displays, Tills
from support.waiting import wait_until

PAGES, OTHERS, TILLS, ORDERS_PER_SECOND = 3, 27, 20, 10
SECONDS = 60 if LONG else 10
P99_S_MAX = 1.0
# When each ticket is drawn for the first time: the frame after it came into the document.
RECORD = """(() => {
  window.onGlass = {};
  new MutationObserver((changes) => changes.forEach((change) => change.addedNodes.forEach((node) => {
    if (node.nodeType !== 1) return;
    [node, ...node.querySelectorAll('.card')].filter((each) => each.matches('.card')).forEach((card) => {
      const order = card.dataset.order;
      if (order in window.onGlass) return;
      window.onGlass[order] = 0;
      requestAnimationFrame(() => { window.onGlass[order] = Date.now() / 1000; });
    });
  }))).observe(document, {childList: true, subtree: true});
})()"""


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(len(values) * share / 100))]


@pytest.mark.timeout(600)
def test_a_ticket_is_on_the_glass_within_a_second_of_the_tills_answer(wall):
    key = wall.box.make_key()["key"]
    pages = [wall.display(name=f"Pantalla {number}", before=RECORD) for number in range(PAGES)]
    lines = [wall.line(wall.dish(station)) for station in ("cold", "hot", "bar")]

    def present():
        return len(wall.api.get("/v1/kitchen/stations").data[0]["displays"])

    rounds = []
    with Displays(wall.box, key, OTHERS):
        wait_until(lambda: present() == PAGES + OTHERS, present)
        # Others may have the processors meanwhile: the best of three.
        while len(rounds) < 3 and not any(p99 <= P99_S_MAX for p99, *_ in rounds):
            with Tills(wall.box, key, TILLS, ORDERS_PER_SECOND, SECONDS, lines) as tills:
                answered = tills.answered()
            assert len(answered) == ORDERS_PER_SECOND * SECONDS
            waits = []
            for page in pages:
                drawn = wait_until(lambda page=page: (seen := page.run("window.onGlass")).keys() >= answered.keys()
                                   and all(seen.values()) and seen, lambda page=page: (len(page.run("window.onGlass")), page.errors))
                waits += [drawn[order] - at for order, at in answered.items()]
            rounds.append([percentile(waits, share) for share in (99, 50, 100)])
            print(f"from the till's answer to the glass, of {len(waits)}: p99 %.2f s, median %.2f s, longest %.2f s" % tuple(rounds[-1]))
        assert present() == PAGES + OTHERS
    assert [page.errors for page in pages] == [[]] * PAGES
    for page in pages:
        page.close()
    assert min(p99 for p99, *_ in rounds) <= P99_S_MAX, rounds
