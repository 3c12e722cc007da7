#!/usr/bin/python3
"""Tills that place orders, each over a connection of its own, while the server is restarted or upgraded:
till_through_restart.py PORT CAFILE KEY TILLS, until its input ends. An order is sent again with its Idempotency-Key until it
is acknowledged, as a till does. Prints JSON: how many connections were refused and how many requests were cut off or
answered 503, from the first refused one to the last, the longest wait for an acknowledgement, and the id of each
acknowledged order."""

import collections
import http.client
import json
import pathlib
import ssl
import sys
import threading
import time
import uuid

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from support.waiting import wait_until  # noqa: E402

WAIT_S = 60


def till(port, tls, key, seen, orders, waits, refused, stop):
    is_last = False
    while not is_last:
        is_last = stop.is_set()  # then one more: each till sells after the restart too
        reference, begun = str(uuid.uuid4()), time.monotonic()
        while True:
            connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=WAIT_S, context=tls)
            try:
                connection.request("POST", "/v1/orders", '{"service_type":"TAKEAWAY"}', {
                    "Authorization": "Bearer " + key, "Content-Type": "application/json", "Idempotency-Key": reference})
                answer = connection.getresponse()
                body = answer.read()
                if answer.status == 201:
                    orders.append(json.loads(body)["data"]["id"])
                    waits.append(time.monotonic() - begun)
                    break
                seen[str(answer.status)] += 1
            except ConnectionRefusedError:
                seen["refused"] += 1
                refused.append(time.monotonic())
            except (OSError, http.client.HTTPException) as error:
                seen["cut"] += 1
                seen[f"cut: {type(error).__name__}"] += 1
            finally:
                connection.close()
            if time.monotonic() - begun > WAIT_S:
                seen["given up"] += 1
                return
            time.sleep(0.02)
        time.sleep(0.02)


class Tills:
    """This program, for the length of a `with`, at the server of a debian_root.BootedRoot with the demo restaurant."""

    def __init__(self, machine):
        self._machine = machine
        made = machine.run("runuser -u comanda -- comanda keys create --name till --scopes all --tier unlimited --json")
        self._key = json.loads(made[made.index("{"):])["key"]

    def __enter__(self):
        self._process = self._machine.start([sys.executable, str(pathlib.Path(__file__).resolve()), "8443",
                                             str(self._machine.path("/var/lib/comanda/tls/ca.crt")), self._key, "8"])
        assert self._process.stdout.readline() == "selling\n"
        return self

    def __exit__(self, *_):
        said, _ = self._process.communicate("", timeout=2 * WAIT_S)
        result = json.loads(said)
        self.seen, self.orders, self.longest_s = result["seen"], result["orders"], result["longest_s"]
        self.refused_s = result["refused_s"]

    def require_each_once(self):
        """The demo restaurant begins with two orders."""
        found = self._machine.run(f"curl -sk -H 'Authorization: Bearer {self._key}' 'https://localhost:8443/v1/orders?per_page=1'")
        assert len(self.orders) == len(set(self.orders))
        assert json.loads(found)["pagination"]["total"] == len(self.orders) + 2
        assert "given up" not in self.seen


def main():
    port, cafile, key, tills = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    tls = ssl.create_default_context(cafile=cafile)
    seen, orders, waits, refused, stop = collections.Counter(), [], [], [], threading.Event()
    threads = [threading.Thread(target=till, args=(port, tls, key, seen, orders, waits, refused, stop)) for _ in range(tills)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(orders) >= 5 * tills, lambda: seen)
    print("selling", flush=True)
    sys.stdin.read()
    stop.set()
    for thread in threads:
        thread.join()
    print(json.dumps({"seen": seen, "longest_s": max(waits, default=None), "orders": orders,
                      "refused_s": max(refused) - min(refused) if refused else 0}))


if __name__ == "__main__":
    main()
