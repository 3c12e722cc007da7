"""kill -9 of the box or of the cloud at any moment of the sync, also between the journal and the request, and between the
cloud's commit and its answer: each acknowledged order is in the cloud once, and equal."""

import random
import threading
import time

from support.box import LONG, PATIENCE_S
from support.cloud_pair import Pair

KILLS = 500 if LONG else 12
# Who is killed, and when: as a write comes to the line, when the cloud has answered it, or at any time.
MOMENTS = [(who, when) for who in ("box", "cloud") for when in ("before", "after", "any time")]


class Killer:
    """Kills one side at the n-th write from now, or after a while."""

    def __init__(self, pair, dice):
        self.pair, self.dice = pair, dice
        self.is_dead = threading.Event()
        pair.proxy.at = self.look

    def aim(self, who, when):
        self.victim = self.pair.box if who == "box" else self.pair.cloud
        self.when, self.left = when, self.dice.randint(1, 6)
        self.is_dead.clear()

    def look(self, point, exchange):
        """Called by the line for each request. A request waits here while its sender or its receiver dies."""
        if exchange.method == "GET" or point != self.when or self.is_dead.is_set():
            return
        self.left -= 1
        if self.left == 0:
            self.strike()

    def strike(self):
        self.victim.kill()
        self.is_dead.set()

    def wait(self):
        if self.when == "any time":
            time.sleep(self.dice.random() * 0.5)
            self.strike()
        # A request may not come if the sync waits after a failure.
        if not self.is_dead.wait(5):
            self.strike()
        self.victim.start()


def test_a_kill_of_either_side_loses_nothing_and_doubles_nothing(tmp_path, seed):
    dice = random.Random(seed)
    with Pair(tmp_path, seed) as pair:
        pair.link()
        till, killer = pair.till(), Killer(pair, dice)
        stopping = threading.Event()
        failures = []

        def work():
            try:
                while not stopping.is_set():
                    till.serve()
            except BaseException as failure:  # the test reports it
                failures.append(failure)

        for number in range(KILLS):
            killer.aim(*MOMENTS[number % len(MOMENTS)])
            stopping.clear()
            thread = threading.Thread(target=work)
            thread.start()
            pair.command("resume", check=False)
            killer.wait()
            stopping.set()
            thread.join(PATIENCE_S)
            assert not thread.is_alive() and not failures, failures
            if number % len(MOMENTS) == len(MOMENTS) - 1:
                killer.when = "never"
                pair.settle()
                pair.eventually(pair.compare)
        killer.when = "never"
        pair.settle()
        pair.eventually(pair.compare)
