"""A display that works through an evening does not grow: the heap after 3,000 orders is at most 1.5 times that after 250, taken after a
forced collection, and no element or listener stays of what is done. Each run takes 1,500 orders as fast as they are drawn, and reckons
with what the last 500 of them have added; --long plays all 3,000 in twenty minutes."""

import time

import pytest

from support.box import LONG
from support.kitchen_wall import MARKS, shown, until_shown

WHOLE, FIRST = 3000, 250
# When it is measured again: what is remembered of orders that are done has its full size by then.
FULL, LAST = (2500, WHOLE) if LONG else (1000, 1500)
AT_ONCE = 10 if LONG else 50
BATCH_S = 20 * 60 / (WHOLE / AT_ONCE) if LONG else 0
RATIO_MAX = 1.5
# Texts and elements that one ticket more or less needs.
SPARE_NODES = 100


def memory(page):
    """(heap in bytes, elements, listeners) of what is still used."""
    for _ in range(3):
        page("HeapProfiler.collectGarbage")
    counters = page("Memory.getDOMCounters")
    return page("Runtime.getHeapUsage")["usedSize"], counters["nodes"], counters["jsEventListeners"]


@pytest.mark.timeout(3600)
def test_memory_does_not_grow_with_the_orders(wall, screen):
    stations = ("cold", "hot", "bar")

    def press(order):
        # By itself: where the cards move meanwhile, a pointer would meet another one.
        screen.run(f"document.querySelector(\"[data-order='{order['id']}'] .head\").click()")

    def play(count):
        """Orders come, and their dishes are done: some here, the others elsewhere; one is cancelled."""
        for batch in range(count // AT_ONCE):
            begin = time.monotonic()
            orders = [wall.order(*[wall.dish(station, number % 5, comment=f"sin sal {number}") for station in stations],
                                 order_title=f"Rosa {number}") for number in range(AT_ONCE)]
            until_shown(screen, lambda cards: {order["id"] for order in orders} <= {card["order"] for card in cards})
            here, cancelled, *others = orders
            press(here)
            wall.cancel(cancelled)
            for order in others:
                wall.api.post(f"/v1/kitchen/tickets/{order['id']}/done", {"line_ids": [line["id"] for line in order["combos"]]})
                wall.api.post(f"/v1/kitchen/tickets/{order['id']}/out", {})
            gone = {order["id"] for order in others}
            until_shown(screen, lambda cards: not gone & {card["order"] for card in cards}
                        and "gone" in [card["kind"] for card in cards if card["order"] == cancelled["id"]])
            press(cancelled)
            time.sleep(max(0, BATCH_S - (time.monotonic() - begin)))
        until_shown(screen, lambda cards: cards == [])
        screen.until(MARKS + ".length === 0")
        wall.orders.clear()

    found = {}
    for before, count in ((0, FIRST), (FIRST, FULL), (FULL, LAST)):
        play(count - before)
        found[count] = memory(screen)
        print(f"after {count} orders: a heap of {found[count][0]:,} bytes, {found[count][1]} elements, {found[count][2]} listeners")
    first, full, last = (found[count] for count in (FIRST, FULL, LAST))
    whole = last[0] + max(0, last[0] - full[0]) * (WHOLE - LAST) / (LAST - FULL)
    print(f"after {WHOLE}: {whole / first[0]:.2f} times as much as after {FIRST}")
    assert shown(screen) == []
    assert whole <= RATIO_MAX * first[0]
    assert last[1] <= first[1] + SPARE_NODES and last[2] <= first[2] + SPARE_NODES
