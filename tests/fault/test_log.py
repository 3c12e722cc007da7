"""The log goes to whoever reads stdout: a disk, the journal, a pipe. What happens there stops no order."""

import contextlib
import os
import subprocess

import pytest

from support.box import Box


class LogBox(Box):
    """A server whose log goes where the test says."""

    def start_with(self, stdout):
        self.log = open(self.data / "test.log", "ab")
        self.process = subprocess.Popen(
            [str(self.binary), "serve", "--data", str(self.data), "--listen", f"127.0.0.1:{self.port}", *self.options],
            stdout=stdout, stderr=self.log)
        self.wait_ready()


@pytest.mark.parametrize("kind", ["full disk", "nobody listens any more", "nobody reads"])
def test_a_log_that_cannot_be_written_stops_no_order(kind):
    box = LogBox()
    reader = None
    try:
        box.bring_in("demo")
        key = box.make_key()["key"]
        if kind == "full disk":
            with open("/dev/full", "wb") as full:
                box.start_with(full)
        else:
            reader, writer = os.pipe()
            box.start_with(writer)
            os.close(writer)
            if kind == "nobody listens any more":
                os.close(reader)
                reader = None
        with contextlib.closing(box.client(key)) as client:
            for n in range(800 if reader is not None else 20):  # more lines than a pipe holds
                assert client.post("/v1/orders", {"service_type": "ONSITE"}, {"Idempotency-Key": f"n-{n}"}).status == 201
        assert box.stop() == 0
    finally:
        if reader is not None:
            os.close(reader)
        box.discard()
