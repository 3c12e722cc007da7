"""The machine gives the server no more memory, for moments: what finds none is answered 503 or cut off, the rest goes on,
and nothing that was acknowledged is lost or doubled."""

import contextlib
import json
import pathlib
import random
import resource
import threading
import time

from support.box import LONG, PATIENCE_S
from support.tills import LOST_LINE, Restaurant

SHORTAGES = 400 if LONG else 40
PAGES = ("/v1/orders?per_page=100", "/v1/menu", "/v1/events?per_page=100", "/v1/clients", "/v1/orders/by-payment-methods")


def private_memory(box):
    status = pathlib.Path(f"/proc/{box.process.pid}/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmData:"))


@contextlib.contextmanager
def no_more_memory(box, left):
    _, hard = resource.prlimit(box.process.pid, resource.RLIMIT_DATA)
    resource.prlimit(box.process.pid, resource.RLIMIT_DATA, (private_memory(box) + left, hard))
    try:
        yield
    finally:
        resource.prlimit(box.process.pid, resource.RLIMIT_DATA, (hard, hard))


class Readers:
    """Displays that read a lot, each by a connection of its own."""

    def __init__(self, house, count):
        self.house, self.statuses, self.failure, self.end = house, {}, None, threading.Event()
        self.threads = [threading.Thread(target=self.read, args=(n,), daemon=True) for n in range(count)]

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        for thread in self.threads:
            thread.join(PATIENCE_S)

    def read(self, number):
        with contextlib.closing(self.house.box.client(self.house.key)) as client:
            while not self.end.is_set():
                number += 1
                try:
                    coding = {"Accept-Encoding": "gzip" if number % 2 else "identity"}
                    answer = client.get(PAGES[number % len(PAGES)], **coding)
                    self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
                    if answer.status not in (200, 503):
                        self.failure = answer
                    elif answer.status == 503:
                        json.loads(answer.body)
                except LOST_LINE:
                    client.close()
                    time.sleep(0.01)


def test_without_memory_requests_are_refused_and_nothing_is_lost(seed):
    dice = random.Random(seed)
    house = Restaurant("short", tills=4, seed=seed)
    try:
        house.open()
        with Readers(house, 4) as readers:
            for _ in range(SHORTAGES):
                house.wait_for_an_answer()
                with no_more_memory(house.box, dice.choice((0, 0, 1 << 16, 1 << 18, 1 << 20))):
                    time.sleep(dice.uniform(0.02, 0.2))
        assert readers.failure is None, readers.failure
        assert readers.statuses.get(503), "no request was short of memory: the test proves nothing"
        house.close()
        house.check_everything()
    finally:
        house.box.kill_if_running()
        house.box.discard()
