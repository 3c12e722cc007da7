"""Signals at every moment: a reload never ends the server, a stop ends it in good order and in bounded time."""

import contextlib
import pathlib
import random
import signal
import socket
import sqlite3
import ssl
import threading
import time

from support.box import LONG, PATIENCE_S
from support.metrics import samples
from support.waiting import wait_until

STARTS = 2000 if LONG else 80


def has_begun(box):
    """Whether the program's first code has run. Between exec and that no program can do anything about a signal."""
    with contextlib.suppress(OSError, IndexError):
        status = pathlib.Path(f"/proc/{box.process.pid}/status").read_text()
        return bool(int(status.split("SigBlk:")[1].split()[0], 16) >> (signal.SIGHUP - 1) & 1)
    return False


def send(box, number):
    """True where the signal may end the process by itself."""
    may_end = not has_begun(box)
    if box.process.poll() is None:
        box.signal(number)
    return may_end


def test_signals_at_random_moments_from_exec_on_end_the_server_in_good_order_or_not_at_all(box, seed):
    dice = random.Random(seed)
    key = box.make_key()["key"]
    box.start()
    with contextlib.closing(box.client(key)) as client:
        order = client.place()
    assert box.stop() == 0
    too_early = 0
    for n in range(STARTS):
        numbers = [signal.SIGHUP, signal.SIGPIPE]
        if n % 4 == 0:
            numbers += [signal.SIGTERM, signal.SIGINT]
        box.launch()
        may_end = False
        for _ in range(dice.randint(1, 5)):
            time.sleep(dice.choice([0, 0.002, 0.01, 0.05, 0.3]) * dice.random())
            may_end |= send(box, dice.choice(numbers))
        if n % 4 and not may_end:
            assert box.process.poll() is None, "a reload is no end"
        if n % 20 == 1 and not may_end:
            box.wait_ready()
        may_end |= send(box, signal.SIGTERM)
        code = box.process.wait(PATIENCE_S)
        too_early += code != 0
        assert code == 0 or (may_end and code in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP, -signal.SIGPIPE)), (n, code, box.log_text()[-3000:])
    print(f"{too_early} of {STARTS} ended by a signal before the program's first code")
    with contextlib.closing(sqlite3.connect(f"file:{box.data}/live.db?mode=ro", uri=True)) as db:
        assert db.execute("PRAGMA quick_check").fetchone() == ("ok",)
    box.start()
    with contextlib.closing(box.client(key)) as client:
        assert client.get(f"/v1/orders/{order['id']}").data == order


def reader(box, path="/v1/openapi.json", key=None):
    """A client that asks for large answers and does not read them."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    plain.settimeout(PATIENCE_S)
    plain.connect(("127.0.0.1", box.port))
    context = ssl.create_default_context(cafile=box.cafile)
    tls = context.wrap_socket(plain, server_hostname="localhost")
    fields = f"Authorization: Bearer {key}\r\n" if key else ""
    tls.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n".encode() * 4)
    return tls


def answering(box):
    """How many connections are sent an answer, besides the one that asks."""
    with contextlib.closing(box.client()) as client:
        found = samples(client.get("/metrics").body.decode())
    return sum(value for name, value in found.items() if name.startswith("comanda_http_connections{") and 'state="answer"' in name)


def drip(sockets, end):
    """Reads a little of each now and then, so that no wait for the client ends by itself."""
    while not end.wait(0.5):
        for each in sockets:
            with contextlib.suppress(OSError):
                each.recv(2048)


def test_a_stop_is_bounded_while_clients_hardly_read_their_answers(box):
    key = box.make_key()["key"]
    box.start()
    end = threading.Event()
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(contextlib.closing(reader(box, key=key if n % 2 else None))) for n in range(40)]
        for name in ("control.sock", "control-test.sock"):
            plain = stack.enter_context(socket.socket(socket.AF_UNIX))
            plain.settimeout(PATIENCE_S)
            plain.connect(str(box.data / name))
            plain.sendall(b"GET /v1/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4)
            sockets.append(plain)
        thread = threading.Thread(target=drip, args=(sockets[::2] + sockets[-2:], end))
        thread.start()
        wait_until(lambda: answering(box), "an answer is under way")
        begin = time.monotonic()
        box.signal(signal.SIGTERM)
        # It waits 10 s for answers, and 5 s for what they have not sent yet. All of them would take minutes.
        assert box.process.wait(PATIENCE_S * 3) == 0
        print(f"stopped in {time.monotonic() - begin:.1f} s")
        end.set()
        thread.join(PATIENCE_S)


def test_a_stop_lets_a_client_read_its_answer_to_the_end(box):
    box.start()
    tls = reader(box)
    wait_until(lambda: answering(box) == 1, lambda: f"{answering(box)} answers under way")
    box.signal(signal.SIGTERM)
    box.wait_for_log("stopping: answering what was accepted")
    time.sleep(1)  # it waits for a client that reads late
    received = b""
    with contextlib.suppress(OSError):
        while piece := tls.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = int(dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])[b"Content-Length"])
    assert len(body) >= length, "the first answer is whole"
    assert box.process.wait(PATIENCE_S) == 0
