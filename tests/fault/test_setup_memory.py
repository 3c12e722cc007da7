"""What pages of the setup port take of the memory: the stacks of its sixteen threads, which stay, and nothing per page."""

import http.client
import re
import time
from pathlib import Path

from support.box import Box, PATIENCE_S, free_port

TAKEN_MAX_KIB = 640


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
    return taken


def test_pages_take_what_their_threads_need_once():
    """The least of three: other threads may take memory meanwhile."""
    fifty, many = (min(taken_by_pages_kib(count) for _ in range(3)) for count in (50, 500))
    assert 0 < fifty <= TAKEN_MAX_KIB, fifty
    assert many <= TAKEN_MAX_KIB, many
