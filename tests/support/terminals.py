"""Simulated terminals, each with its own address (127.0.2.x) or all behind one; each sends one request after the other."""

import contextlib
import dataclasses
import http.client
import json
import random
import ssl
import threading
import time
import uuid

from support.box import PATIENCE_S


@dataclasses.dataclass
class Shift:
    """The answers and failures that the terminals observed."""

    times_ms: list = dataclasses.field(default_factory=list)
    failures: list = dataclasses.field(default_factory=list)

    def percentile(self, percent):
        times = sorted(self.times_ms)
        return times[min(len(times) - 1, len(times) * percent // 100)]


class Terminals:
    """`fresh`: a new connection and handshake for every request; else one connection for the whole shift, whose end
    is a failure."""

    def __init__(self, box, key, count=20, fresh=False, pause_s=0.2, first=1, behind=None):
        self.port, self.key, self.fresh, self.pause_s = box.port, key, fresh, pause_s
        self.addresses = [behind or f"127.0.2.{first + i}" for i in range(count)]
        self.context = ssl.create_default_context(cafile=box.cafile)
        self.end = threading.Event()
        self.shift = Shift()
        self.threads = []

    def __enter__(self):
        self.end.clear()
        self.shift = Shift()
        self.threads = [threading.Thread(target=self._work, args=(a,), daemon=True) for a in self.addresses]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        for thread in self.threads:
            thread.join(PATIENCE_S * 2)

    def work(self, seconds):
        """Runs for that long."""
        with self:
            time.sleep(seconds)
        return self.shift

    def _connect(self, address):
        connection = http.client.HTTPSConnection(
            "127.0.0.1", self.port, timeout=PATIENCE_S, context=self.context, source_address=(address, 0))
        connection.connect()
        return connection

    def _ask(self, connection, number):
        fields = {"Authorization": "Bearer " + self.key}
        if number % 4:
            connection.request("GET", "/v1/orders?per_page=1", headers=fields)
        else:
            fields |= {"Idempotency-Key": str(uuid.uuid4()), "Content-Type": "application/json"}
            connection.request("POST", "/v1/orders", json.dumps({"service_type": "ONSITE"}), fields)
        response = connection.getresponse()
        response.read()
        if response.status != (200 if number % 4 else 201):
            raise http.client.HTTPException(f"answered {response.status}")

    def _work(self, address):
        connection = None
        number = random.randrange(4)
        time.sleep(random.uniform(0, self.pause_s))
        while not self.end.is_set():
            number += 1
            begin = time.perf_counter()
            try:
                connection = connection or self._connect(address)
                self._ask(connection, number)
                self.shift.times_ms.append((time.perf_counter() - begin) * 1000)
            except (OSError, http.client.HTTPException) as error:
                self.shift.failures.append(f"{address}: {error!r}")
                connection = self._closed(connection)
            if self.fresh:
                connection = self._closed(connection)
            self.end.wait(self.pause_s * random.uniform(0.5, 1.5))
        self._closed(connection)

    @staticmethod
    def _closed(connection):
        if connection:
            with contextlib.suppress(OSError):
                connection.close()
        return None
