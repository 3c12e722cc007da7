"""kill -9 at the n-th write, sync, truncate, rename and unlink of a server's life with one order in it, until the life
passes without a kill, for every n. The kill comes where the call would begin: what was done before it is there, it and what
follows is not. Needs root: strace comes to a server that keeps its memory to itself."""

import pytest

from support.box import LONG, PATIENCE_S
from support.killer import kills, lie_in_wait, prepared, threads
from support.tills import Restaurant

CALLS = ["pwrite64", "fdatasync", "fsync", "ftruncate", "unlink", "rename"]


class Life(Restaurant):
    """Its one till goes on with the server that is started when the first one was killed."""

    def __init__(self, data, call, nth):
        super().__init__("life", data=data, tills=1)
        self.call, self.nth, self.killed = call, nth, False

    def lie_in_wait(self):
        """strace counts in each thread by itself: the writer's calls, and at the end the main thread's."""
        pid = self.box.process.pid
        self.assassin = lie_in_wait({pid, *threads(pid, "write ")}, self.call, self.nth)

    def line_lost(self):
        if self.box.process.poll() is not None:
            self.start_again()

    def start_again(self):
        assert not self.killed, "it was killed once, and ended again:\n" + self.box.log_text()
        assert self.box.process.returncode == -9, self.box.log_text()
        self.killed = True
        self.assassin.wait(PATIENCE_S)
        self.box.start()

    def live(self):
        self.box.start()
        self.lie_in_wait()
        till = self.tills[0]
        till.serve("guest")
        if LONG:
            till.change_their_mind("other-guest")
            till.price_the_menu("price")
            till.change_the_locks("lock")
        if not self.killed:
            if self.box.stop() == 0:  # the checkpoint at the end, and what it leaves behind
                self.assassin.wait(PATIENCE_S)
                self.box.start()
            else:
                self.start_again()
        self.check_everything()


@pytest.fixture(scope="module")
def data():
    yield from prepared(Restaurant)


@pytest.mark.parametrize("call", CALLS)
def test_nothing_acknowledged_is_lost_or_doubled_by_a_kill_at_any_step(data, call):
    killed = kills(Life, data, call, 1, 1)
    print(f"{killed} kills at {call}")
    # An idle life unlinks and renames little.
    assert killed >= {"pwrite64": 30, "fdatasync": 7}.get(call, 0), "the life is hardly disturbed"
