"""What webhooks hold in memory, and what they write: connections to many receivers, a backlog, large orders under way, and
nothing at all to send. Limits on memory are those of the contract's bars with room for the heap's granularity."""

import contextlib
import os
import pathlib
import stat
import subprocess
import threading
import time
import uuid

from support.big_orders import add_big_items
from support.box import LONG, PATIENCE_S, ROOT, Box, entries, free_port
from support.openssl import make_pair
from support.orders import accepted
from support.receiver import LOOPBACK, Receiver
from support.waiting import wait_until

PATH = "/v1/webhooks"
MIB = 1 << 20
SUBSCRIPTIONS = 20
AT_ONCE = 4          # transfers to one receiver
TRANSFERS = 12       # of all receivers together, beside those of the sandbox
IDLE_CONNECTIONS = 64  # that libcurl keeps
BACKLOG = 100_000 if LONG else 20_000
BIG_LINES = 10       # of 47 KB each: near the cap of an order
IDLE_S = 120 if LONG else 20


def resident(box):
    """Without the pages of files."""
    status = pathlib.Path(f"/proc/{box.process.pid}/status").read_text()
    return next((int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("RssAnon:")), 0)


@contextlib.contextmanager
def lan(*options):
    """A box without a sandbox that may deliver to loopback, with few workers, which have all been at work; and a client."""
    box = Box(options=[*LOOPBACK, "--sandbox-listen", "", "--workers", "8", *options])
    try:
        box.bring_in("demo")
        key = box.make_key()["key"]
        box.start()
        with contextlib.closing(box.client(key)) as client:
            for _ in range(50):
                client.place()
            client.get("/v1/orders?per_page=50")
            yield box, client
    finally:
        box.discard()


def subscribe(client, receiver, **fields):
    return accepted(client.post(PATH, {"webhook_url": receiver.url, **fields}), 201)


def change(client, hook, **fields):
    return accepted(client.patch(f"{PATH}/{hook['id']}", fields))


class Gate:
    """An answer that waits until so many requests wait for it."""

    def __init__(self, count):
        self.barrier = threading.Barrier(count)

    def __call__(self, request):
        self.barrier.wait(PATIENCE_S)
        return 204, {}, b""


class Holding:
    """An answer that waits until it is released; counts who waits."""

    def __init__(self):
        self.released, self.waiting = threading.Event(), 0
        self.lock = threading.Lock()

    def __call__(self, request):
        with self.lock:
            self.waiting += 1
        self.released.wait(PATIENCE_S * 2)
        return 204, {}, b""


def test_eighty_tls_connections_take_at_most_8_mib(tmp_path):
    pair = make_pair(tmp_path, "receivers")
    with lan("--webhook-ca", str(pair.certificate)) as (box, client), contextlib.ExitStack() as stack:
        before = resident(box)
        receivers = [stack.enter_context(Receiver(tls=pair)) for _ in range(SUBSCRIPTIONS)]
        hooks = []
        for receiver in receivers:  # one after another, so that each is given all of its four connections
            receiver.answer = Gate(AT_ONCE)
            hooks.append(subscribe(client, receiver))
            for _ in range(AT_ONCE):
                client.place()
            receiver.wait_for(AT_ONCE)
            wait_until(lambda: accepted(client.get(f"{PATH}/{hooks[-1]['id']}"))["backlog"] == 0, "they are not acknowledged")
            change(client, hooks[-1], is_active=False)
        holding = Holding()
        stack.callback(holding.released.set)
        for receiver, hook in zip(receivers, hooks):
            receiver.answer = holding
        for hook in hooks[-TRANSFERS // AT_ONCE:]:
            change(client, hook, is_active=True, skip_backlog=True)
        for _ in range(AT_ONCE):
            client.place()
        wait_until(lambda: holding.waiting >= TRANSFERS, "fewer transfers")
        opened = sum(receiver.connections for receiver in receivers)
        grown = resident(box) - before
        print(f"{opened} connections, {grown / MIB:.2f} MiB")
        assert IDLE_CONNECTIONS <= opened <= IDLE_CONNECTIONS + TRANSFERS
        assert grown <= 8 * MIB


def place_many(box, key, count):
    """So many orders, fast. Returns when there are at least so many events more."""
    begun = last_event(box)
    while last_event(box) - begun < count:
        done = subprocess.run(
            ["wrk", "-t", "1", "-c", "4", "-d", "1s", "-s", ROOT / "tests/bench/create.lua", "-H",
             "Authorization: Bearer " + key, f"https://127.0.0.1:{box.port}/v1/orders", "--", str(uuid.uuid4())],
            capture_output=True, text=True, env={**os.environ, "BENCH_SCRIPTS": str(ROOT / "tests/bench")})
        assert done.returncode == 0, done.stderr


def last_event(box):
    return box.value("SELECT max(event_seq) FROM company_counter")


def test_a_backlog_takes_no_memory():
    with lan() as (box, client):
        place_many(box, client.key, BACKLOG)
        before = resident(box)
        down = free_port()
        hook = accepted(client.post(PATH, {"webhook_url": f"http://127.0.0.1:{down}/hook"}), 201)
        place_many(box, client.key, BACKLOG)
        found = accepted(client.get(f"{PATH}/{hook['id']}"))
        assert found["backlog"] >= BACKLOG and found["consecutive_failures"] >= 1, found
        grown = resident(box) - before
        print(f"{found['backlog']} events, {grown / MIB:.2f} MiB")
        assert grown <= 2 * MIB


class Peak:
    """The most that the box has held since it was made."""

    def __init__(self, box):
        self.box, self.bytes, self.end = box, resident(box), threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self):
        while not self.end.wait(0.01):
            self.bytes = max(self.bytes, resident(self.box))

    def stop(self):
        self.end.set()
        self.thread.join(PATIENCE_S)
        return self.bytes


def test_large_orders_on_their_way_to_many_receivers_stay_in_the_log():
    with lan() as (box, client), contextlib.ExitStack() as stack:
        receivers = [stack.enter_context(Receiver()) for _ in range(SUBSCRIPTIONS)]
        hooks = [subscribe(client, receiver, is_active=False) for receiver in receivers]
        for _ in range(2 * AT_ONCE):
            add_big_items(client, client.place(), BIG_LINES)
        holding = Holding()
        stack.callback(holding.released.set)
        for receiver in receivers:
            receiver.answer = holding
        before, peak = resident(box), Peak(box)
        for hook in hooks:
            change(client, hook, is_active=True)
        wait_until(lambda: holding.waiting >= TRANSFERS, "fewer transfers")
        holding.released.set()
        wait_until(lambda: all(len(receiver.requests) == 4 * AT_ONCE for receiver in receivers),
                   lambda: [len(receiver.requests) for receiver in receivers])
        grown = peak.stop() - before
        print(f"at most {grown / MIB:.2f} MiB")
        # 12 messages of 480 KB are 5.5 MiB; the windows hold none of them.
        assert grown <= 8 * MIB


def files(box):
    return {path.name: (found.st_size, found.st_mtime_ns) for path, found in entries(box.data)
            if stat.S_ISREG(found.st_mode) and path != box.log_path}


def test_with_nothing_to_send_nothing_is_written():
    with lan() as (box, client), contextlib.ExitStack() as stack:
        receivers = [stack.enter_context(Receiver()) for _ in range(10)]
        hooks = [subscribe(client, receiver) for receiver in receivers]
        client.place()
        for receiver, hook in zip(receivers, hooks):
            receiver.wait_for(1)
            wait_until(lambda: accepted(client.get(f"{PATH}/{hook['id']}"))["sequence"] == 1, "it is not stored")
        client.close()
        wait_until(lambda: key_is_noted(box), "the key's last use is not stored", 3 * PATIENCE_S)
        wait_until_files_rest(box)
        before, cpu = files(box), box.cpu_seconds()
        time.sleep(IDLE_S)
        spent = (box.cpu_seconds() - cpu) / IDLE_S
        print(f"{spent * 1e6:.0f} us of CPU a second")
        assert files(box) == before
        assert spent < 0.01


def key_is_noted(box):
    """The last use of a key is stored within a minute; that write is not the webhooks'."""
    return box.value("SELECT count(*) FROM api_key WHERE last_used_at IS NOT NULL")


def wait_until_files_rest(box):
    """What follows the last writes (a checkpoint) comes some seconds later."""
    def rest():
        before = files(box)
        time.sleep(6)  # longer than the writer waits until it empties its log (db/sqlite/checkpointer.h)
        return files(box) == before

    wait_until(rest, lambda: files(box), 4 * PATIENCE_S)
