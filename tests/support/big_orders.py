"""Orders at the cap of their record, 512 KiB (contract section 1), and one of an older program far above it."""

import contextlib
import json
import sqlite3

from support import past
from support.orders import accepted, item, new_id

RECORD_MAX = 512 * 1024
LONGEST = "\N{CURRY AND RICE}" * 200  # four bytes each: no text of 200 characters is longer


def big_item(name=LONGEST):
    """A line of about 47 KB in the record."""
    return item(1, name=name, modifiers=[{"name": LONGEST, "price": 0} for _ in range(50)])


def middle_item():
    """A line of about 1.6 KB in the record."""
    return item(1, name=LONGEST)


def add_big_items(api, order, count):
    """Adds the lines in one request, as UTF-8: \\u escapes would be three times as long."""
    body = json.dumps({"combos": [big_item() for _ in range(count)]}, ensure_ascii=False).encode()
    return accepted(api.post(f"/v1/orders/{order['id']}/combos", body, {"Content-Type": "application/json"}))


def fill(api, order):
    """Adds lines until even a small one is refused; returns that refusal. The record is then within 2 KB of its cap."""
    for line in (big_item(), middle_item()):
        while True:
            answer = api.post(f"/v1/orders/{order['id']}/combos", {"combos": [line]})
            if answer.status != 200:
                break
    return answer


def record_size(api, order):
    return len(api.get(f"/v1/orders/{order['id']}").body) - len('{"data":}')


def old_order(data, megabytes):
    """A database of an older program, as live.db of the directory, with an open order whose record has about so many
    megabytes; its id."""
    past.unpack(5, data)
    with contextlib.closing(sqlite3.connect(data / "live.db")) as db, db:
        company, order = db.execute("SELECT company_id, id FROM orders WHERE status = 1 AND total_paid = 0 LIMIT 1").fetchone()
        position, = db.execute("SELECT min(position) FROM combo WHERE company_id = ? AND order_id = ?",
                               (company, order)).fetchone()
        first, = db.execute("SELECT count(*) FROM combo_modifier WHERE company_id = ? AND order_id = ? AND combo_position = ?",
                            (company, order, position)).fetchone()
        db.executemany(
            "INSERT INTO combo_modifier (company_id, order_id, combo_position, position, id, modifier_id, name, quantity,"
            " price, original_price) VALUES (?, ?, ?, ?, ?, NULL, ?, 1000, 0, 0)",
            ((company, order, position, first + n, new_id(), LONGEST) for n in range(int(megabytes * 1e6 / 950))))
        db.execute("DELETE FROM order_record WHERE order_id = ?", (order,))
    return order
