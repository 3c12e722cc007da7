"""Flash wears by what is written, and most of that is the write-ahead log (systemd/README.md, Flash wear)."""

import contextlib
import re

import pytest

from support.box import Box
from support.orders import three_items

pytestmark = pytest.mark.box_only

LIVES = 20
PAGE_BYTES = 1024
FRAME_BYTES = PAGE_BYTES + 24  # a page in the log
# 141 KB with three items; one more index that each of the eight writes changes would pass it.
LOG_BYTES_MAX = 148_000


def log_pages(client):
    metrics = client.get("/metrics").body.decode()
    return int(re.search(r'^comanda_db_wal_pages\{database="live"\} (\d+)$', metrics, re.MULTILINE)[1])


def test_an_orders_life_takes_little_of_the_log():
    box = Box()
    box.bring_in("demo")
    box.start()
    items = three_items(box)
    with contextlib.closing(box.client(box.make_key()["key"])) as client, box.database() as database:
        assert database.rows("PRAGMA page_size") == [(PAGE_BYTES,)]
        client.sell(*items)
        before = log_pages(client)
        for _ in range(LIVES):
            client.sell(*items)
        written = (log_pages(client) - before) * FRAME_BYTES / LIVES
    assert 0 < written <= LOG_BYTES_MAX, written
    assert box.discard() == 0
