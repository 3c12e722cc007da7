"""What orders write to the disk, and what is kept of them."""

import concurrent.futures
import contextlib
import shutil
import subprocess
import time
import uuid

from ageing import age, used_bytes
from serving import Server
from support.box import PATIENCE_S, Box
from support.orders import three_items
from table import Row
from webhooks import LOOPBACK, Receiver, last_seq, subscribe

LIVES = {True: 20, False: 200}  # in brief or not
KEPT = {True: 40, False: 2000}
TILLS = 8
WRITTEN_KB_MAX, WRITTEN_HOOKED_KB_MAX = 250, 350
SUBSCRIPTIONS = 10
STORED_S = 2.5  # after the last message: its row is stored, and copied from the log into the database
KEPT_BARS = [("for 7 days", 36, None), ("afterwards", 9, 10), ("once closed for 90 days", 4.5, 100)]  # KB, age in days


def written(bench):
    """What a server writes for its orders, and what it writes when ten webhooks get each of their events as well."""
    alone, hooked = "written for one order's life, KB", f"written for one order's life, {SUBSCRIPTIONS} webhooks, KB"
    kind = subprocess.run(["stat", "-f", "-c", "%T", bench.parent], capture_output=True, text=True).stdout.strip()
    for what, bar, hooks in (alone, WRITTEN_KB_MAX, 0), (hooked, WRITTEN_HOOKED_KB_MAX, SUBSCRIPTIONS):
        if not bench.wanted(what):
            continue
        if kind in ("tmpfs", "ramfs"):
            bench.add(Row(what, f"<= {bar}", None, note=f"not measured: {bench.parent} is {kind}; set TMPDIR to a disk"))
            continue
        results = [written_by(bench, program, hooks) for program in bench.programs]
        note = "" if results[0] is not None else "not measured: /proc/PID/io of the server needs root"
        bench.add(Row(what, f"<= {bar}", *results, met=results[0] and results[0] <= bar,
                      note=note or f"on {kind}, {LIVES[bench.brief]} orders one after another, with their checkpoints"))


def written_by(bench, program, hooks):
    receiver = Receiver(bench.stack) if hooks else None
    server = Server(bench.stack, bench.parent / f"wear-{hooks}-{program.name}", program.binary, options=LOOPBACK if hooks else ())
    items = three_items(server.box)
    with server.client() as client:
        for _ in range(hooks):
            subscribe(client, receiver)
        client.sell(*items)
        before, first = server.written_bytes(), last_seq(server)
        for _ in range(LIVES[bench.brief]):
            client.sell(*items)
        if hooks:
            receiver.wait_for(hooks * (last_seq(server) - first), PATIENCE_S)
            time.sleep(STORED_S)
        after = server.written_bytes()
    return None if before is None else (after - before) / 1000 / LIVES[bench.brief]


def kept(bench):
    """Bytes of the database file for each order, free pages left out; the file as the program keeps it when it is young,
    10 days and 100 days old (ageing.py)."""
    if not bench.wanted("kept of an order"):
        return
    columns = [kept_by(bench, program) for program in bench.programs]
    for row, (when, bar, _) in enumerate(KEPT_BARS):
        values = [column[row] for column in columns]
        bench.add(Row(f"kept of an order {when}, KB", f"<= {bar}", *values, met=values[0] <= bar))


def kept_by(bench, program):
    data, count = bench.parent / f"kept-{program.name}", KEPT[bench.brief]
    with contextlib.ExitStack() as serving:
        server = Server(serving, data, program.binary)
        key, items = server.key, three_items(server.box)
    empty = used_bytes(data)
    box = Box(data, binary=program.binary).start()
    try:
        with concurrent.futures.ThreadPoolExecutor(TILLS) as tills:
            list(tills.map(lambda _: six_writes(box, key, items, count // TILLS), range(TILLS)))
    finally:
        box.stop()
    results, last_days = [], 0
    for _, _, days in KEPT_BARS:
        if days:
            age(data, last_days, days, program.binary, key)
            last_days = days
        results.append((used_bytes(data) - empty) / 1000 / (count // TILLS * TILLS))
    shutil.rmtree(data)
    return results


def six_writes(box, key, items, count):
    """Orders of four lines, none to two of them with a modifier: SQLite stores long rows in whole pages, so that the same
    order again and again would show only whether it passes the next page. Each write has an Idempotency-Key."""
    with contextlib.closing(box.client(key)) as client:
        def write(method, path, body, status=200):
            answer = client.send(method, path, body, {"Idempotency-Key": str(uuid.uuid4())})
            assert answer.status == status, (path, answer.status, answer.body)
            return answer.data

        for number in range(count):
            order = write("POST", "/v1/orders", {"service_type": "ONSITE", "comment": "sin cebolla"}, 201)
            path = "/v1/orders/" + order["id"]
            lines = [{**items[line % 3], "modifiers": items[line % 3]["modifiers"] if line < number % 3 else []}
                     for line in range(4)]
            write("POST", path + "/combos", {"combos": lines[:2]})
            order = write("POST", path + "/combos", {"combos": lines[2:]})
            write("PATCH", path + "/status", {"status": "READY"})
            write("POST", path + "/payments", {"payment_method_code": "cash", "amount": order["pending_amount"]})
            write("PATCH", path + "/status", {"status": "FINALIZED"})
