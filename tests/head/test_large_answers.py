"""Answers of the database of more than 32 MiB: what may be as large comes in pieces, the rest is refused, and neither takes the
memory."""

import contextlib
import re

import pytest

from support.box import Box
from support.orders import item, refused
from support.waiting import wait_until

ROWS, ROW_BYTES = 50_000, 1_000  # 48 MiB
MEMORY_MAX = 24 * 1024 * 1024


def memory_peak(box):
    return int(re.search(r"VmHWM:\s+(\d+) kB", open(f"/proc/{box.process.pid}/status").read())[1]) * 1024


@pytest.fixture
def head():
    """Without the proxy, which is slow."""
    box = Box(engine="postgresql")
    box.command("import", "demo", "--data", str(box.data))
    box.start()
    yield box
    assert box.discard() == 0


@pytest.fixture
def api(head):
    with contextlib.closing(head.client(head.make_key()["key"])) as client:
        yield client


def test_a_report_of_more_rows_than_an_answer_may_have(head, api):
    order = api.add(api.place(), item(name="Ceviche"))
    with head.database() as db:
        names = [name for name, in db.rows("SELECT attname FROM pg_attribute WHERE attrelid = CAST('combo' AS regclass) "
                                           "AND attnum > 0 AND NOT attisdropped ORDER BY attnum")]
        copied = {"position": "n.n", "id": "id || n.n", "product_name": f"repeat(chr(97 + n.n % 26), {ROW_BYTES})"}
        db.execute(f"INSERT INTO combo SELECT {', '.join(copied.get(name, name) for name in names)} FROM combo "
                   f"CROSS JOIN generate_series(1, {ROWS}) AS n(n) WHERE order_id = '{order['id']}'")
        assert db.rows("SELECT sum(length(product_name)) FROM combo")[0][0] > 32 * 1024 * 1024
    before = memory_peak(head)
    answer = api.get("/v1/orders/products-sold?filter[include]=freehand&per_page=100")
    assert answer.status == 200, answer.body
    assert sum(row["product_quantity"] for row in answer.data if len(row["product_name"]) == ROW_BYTES) == ROWS
    assert memory_peak(head) - before < MEMORY_MAX


def test_an_answer_that_is_too_large_is_refused(head, api):
    """And nothing but it, by whoever sees it first: bytes are counted at the socket, where those that the server sends while
    libpq reads are missed, and the page counts its own. Its rows are as long as the longest that the program writes."""
    with head.database() as db:
        names = [name for name, in db.rows("SELECT attname FROM pg_attribute WHERE attrelid = CAST('payment_method' AS regclass) "
                                           "AND attnum > 0 AND NOT attisdropped ORDER BY attnum")]
        copied = {"id": "id || n.n", "code": "code || n.n", "created_seq": "created_seq + 1000 * n.n",
                  "description": "repeat('x', 512 * 1024)"}
        db.execute(f"INSERT INTO payment_method SELECT {', '.join(copied.get(name, name) for name in names)} FROM payment_method "
                   "CROSS JOIN generate_series(1, 60) AS n(n)")
        (bytes_,), = db.rows("SELECT sum(length(description)) FROM payment_method")
        assert bytes_ > 96 * 1024 * 1024
    before = memory_peak(head)
    answer = api.get("/v1/company/payment-methods?per_page=100")
    if answer.status == 500:
        refused(answer, 500, "internal_error")
        assert "are more than 32 MiB" in head.log_text()
    else:
        refused(answer, 400, "invalid_parameter", {"per_page": "out_of_range"})
    assert memory_peak(head) - before < 5 * MEMORY_MAX
    with head.database() as db:
        db.execute("DELETE FROM payment_method WHERE length(description) > 1000")
    wait_until(lambda: api.get("/v1/company/payment-methods").status == 200, head.log_text)
    api.place()
