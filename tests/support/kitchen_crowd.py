"""A full kitchen beside the pages of a test: displays that ask as the page does, and tills, each kind in a process of its own.

    with Displays(box, key, 27): …
    with Tills(box, key, 20, orders_per_second=10, seconds=10, lines=[…]) as tills:
        …tills.answered()   {order: when the till had its answer, in seconds of the machine's clock}"""

import contextlib
import gzip
import json
import subprocess
import sys
import threading
import time
import types
import uuid

# As src/web/shared/live.ts.
WAIT_S, BETWEEN_NEWS_S = 8, 0.15
# Dishes leave the kitchen that long after they were ordered.
COOKED_S = 4


class Crowd:
    def __init__(self, box, key, kind, count, **more):
        self.words = [sys.executable, __file__, kind]
        self.told = json.dumps({"port": box.port, "cafile": str(box.cafile), "key": key, "count": count, **more})

    def __enter__(self):
        self.process = subprocess.Popen(self.words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(self.told + "\n")
        self.process.stdin.flush()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class Displays(Crowd):
    def __init__(self, box, key, count):
        super().__init__(box, key, "displays", count)


class Tills(Crowd):
    def __init__(self, box, key, count, orders_per_second, seconds, lines):
        super().__init__(box, key, "tills", count, rate=orders_per_second, seconds=seconds, lines=lines)

    def answered(self):
        """Waits for the end."""
        told = json.loads(self.process.stdout.readline())
        assert told["failures"] == [], told["failures"][:3]
        return told["answered"]


def follow(client, key, name):
    """One display, for ever."""
    after = client.send(key, "GET", "/v1/kitchen/tickets?per_page=100").headers["x-event-cursor"]
    while True:
        answer = client.send(key, "GET", f"/v1/kitchen/changes?per_page=100&after={after}&display={name}&sound=on&awake=yes",
                             Prefer=f"wait={WAIT_S}", Accept_Encoding="gzip")
        assert answer.status == 200, (answer.status, answer.body)
        is_packed = answer.headers.get("content-encoding") == "gzip"
        news = json.loads(gzip.decompress(answer.body) if is_packed else answer.body)
        after = news["next"]
        if news["data"]:
            time.sleep(BETWEEN_NEWS_S)


def sell(client, told, number, answered):
    """One till: an order, its lines, and when they are cooked, out with them."""
    def send(path, body):
        answer = client.send(told["key"], "POST", path, json.dumps(body), str(uuid.uuid4()))
        assert answer.status in (200, 201), (path, answer.status, answer.body)
        return answer.json["data"]

    pause_s = told["count"] / told["rate"]
    begin = time.monotonic() + pause_s * number / told["count"]
    cooking = []
    for due in [begin + pause_s * n for n in range(round(told["seconds"] / pause_s))]:
        time.sleep(max(0, due - time.monotonic()))
        order = send("/v1/orders", {"service_type": "ONSITE"})["id"]
        send(f"/v1/orders/{order}/combos", {"combos": told["lines"]})
        answered[order] = time.time()
        cooking.append((time.monotonic() + COOKED_S, order))
        while cooking and cooking[0][0] <= time.monotonic():
            send(f"/v1/kitchen/tickets/{cooking.pop(0)[1]}/out", {})
    for when, order in cooking:
        time.sleep(max(0, when - time.monotonic()))
        send(f"/v1/kitchen/tickets/{order}/out", {})


def main(kind):
    told = json.loads(sys.stdin.readline())
    box = types.SimpleNamespace(port=told["port"], cafile=told["cafile"])
    failures, answered = [], {}

    def work(number):
        try:
            with contextlib.closing(QuickClient(box)) as client:
                if kind == "tills":
                    sell(client, told, number, answered)
                else:
                    follow(client, told["key"], f"d{number}")
        except (AssertionError, OSError) as failure:
            failures.append(str(failure))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(told["count"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps({"answered": answered, "failures": failures}), flush=True)


if __name__ == "__main__":
    import pathlib
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
    from support.quick_client import QuickClient
    main(sys.argv[1])
