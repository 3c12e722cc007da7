"""What pages of the setup port take of the memory: the stacks of its six threads, which stay, and nothing per page."""

import http.client
import re
import time
from pathlib import Path

from support.box import Box, PATIENCE_S, free_port

TAKEN_MAX_KIB = 300
THREADS, IDLE_STACK_KIB = 6, 8  # which they take before the first page


def dirty_kib(box):
    """Once the server is quiet: the check of the databases takes memory of its own."""
    read = [-1, -2, -3]
    while len(set(read)) > 1:
        rollup = Path(f"/proc/{box.process.pid}/smaps_rollup").read_text()
        read = [*read[1:], int(re.search(r"Private_Dirty: +(\d+)", rollup)[1])]
        time.sleep(0.3)
    return read[0]


def taken_by_pages_kib(count):
    box, port = Box(), free_port()
    box.options += ["--setup-listen", f"127.0.0.1:{port}"]
    box.bring_in("demo")
    box.start()
    before = dirty_kib(box)
    for _ in range(count):
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
        client.request("GET", "/setup")
        answer = client.getresponse()
        assert answer.status == 200 and answer.read()
        client.close()
    taken = dirty_kib(box) - before
    assert box.discard() == 0
    return taken + THREADS * IDLE_STACK_KIB


def is_held(count):
    """In one of six boxes: other threads may take memory meanwhile."""
    taken = []
    while len(taken) < 6:
        taken.append(taken_by_pages_kib(count))
        if taken[-1] <= TAKEN_MAX_KIB:
            return True
    print(f"{count} pages took {taken} KiB")
    return False


def test_pages_take_what_their_threads_need_once():
    assert is_held(50)
    assert is_held(500)
