"""kill -9 at random moments under mixed load from tills that retry with the same key: nothing that was acknowledged is
lost, nothing is doubled, every replay is the first answer."""

import concurrent.futures
import multiprocessing
import os
import random
import time

from support.box import LONG
from support.tills import Restaurant

CYCLES = int(os.environ.get("COMANDA_KILL_CYCLES", 10000 if LONG else 120))
RESTAURANTS = 4  # each a process with a box of its own
START_MS = 30    # about what it takes to be ready


def kill_again_and_again(name, seed, cycles):
    moments = random.Random(seed)
    house = Restaurant(name, tills=3, seed=seed)
    try:
        house.open()
        for _ in range(cycles):
            # Some meet the start and what it recovers; the rest come 1 to 300 ms after the first answer.
            if moments.random() < 0.1:
                time.sleep(moments.uniform(0, START_MS) / 1000)
            else:
                house.wait_for_an_answer()
                time.sleep(300 ** moments.random() / 1000)
            house.box.kill()
            house.box.launch()
        house.wait_for_an_answer()
        house.close()
        house.check_everything()
        return len(house.writes()), sum(till.retries for till in house.tills)
    finally:
        house.box.discard()


def test_nothing_acknowledged_is_lost_or_doubled_by_kill_9(seed):
    with concurrent.futures.ProcessPoolExecutor(RESTAURANTS, multiprocessing.get_context("fork")) as pool:
        jobs = [pool.submit(kill_again_and_again, f"house{n}", seed + n, CYCLES // RESTAURANTS)
                for n in range(RESTAURANTS)]
        found = [job.result() for job in jobs]
    writes, retries = (sum(column) for column in zip(*found))
    print(f"{CYCLES} kills, {writes} writes acknowledged, {retries} times a line was lost")
    assert retries > CYCLES / 10, "hardly a kill hit a request: the test proves nothing"
    assert writes > CYCLES, "hardly a write: the test proves nothing"
