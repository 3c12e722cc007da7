"""Connections that occupy a server's workers by being slow. A separate program, so that it does not disturb measurements.

    python3 tests/support/slow_attack.py --port N --kind head [--count 1000] [--sources 200] [--rate 50] [--key KEY]

keeps `count` connections open from that many addresses (127.0.1.x), and opens what the server cuts again, at most
`rate` a second after the first `count`. Writes a line of JSON every half second: how many are open, were opened and were cut.
Only ever against the loopback address; ends by itself after --seconds.
"""

import argparse
import asyncio
import contextlib
import json
import os
import socket
import ssl
import struct
import sys
import time

KINDS = ("handshake", "head", "body", "reader", "idle", "half-open")
DRIP_S = 1.0
TCP_REPAIR = 19
ESTABLISHED = 1


class Stream:
    """TLS over a socket that asyncio waits for; reads only when it is asked to."""

    def __init__(self, plain, context):
        self.plain, self.loop = plain, asyncio.get_running_loop()
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname="localhost")

    async def flush(self):
        if self.outgoing.pending:
            await self.loop.sock_sendall(self.plain, self.outgoing.read())

    async def until(self, step):
        while True:
            try:
                return step()
            except ssl.SSLWantReadError:
                await self.flush()
                piece = await self.loop.sock_recv(self.plain, 65536)
                if not piece:
                    raise ConnectionResetError("cut") from None
                self.incoming.write(piece)

    async def shake_hands(self):
        await self.until(self.tls.do_handshake)
        await self.flush()

    async def send(self, data):
        self.tls.write(data)
        await self.flush()

    async def read(self):
        return await self.until(lambda: self.tls.read(65536))


class Attack:
    def __init__(self, options):
        self.options = options
        self.context = ssl.create_default_context()
        self.context.check_hostname, self.context.verify_mode = False, ssl.CERT_NONE
        self.open = self.opened = self.cut = 0
        self.held = set()

    def head(self, method, path, *fields):
        lines = [f"{method} {path} HTTP/1.1", "Host: localhost", *fields]
        if self.options.key:
            lines.append(f"Authorization: Bearer {self.options.key}")
        return "\r\n".join(lines).encode() + b"\r\n"

    async def connect(self, number):
        plain = socket.socket()
        plain.setblocking(False)
        if self.options.kind == "reader":
            plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        plain.bind((f"127.0.1.{1 + number % self.options.sources}", 0))
        try:
            await asyncio.get_running_loop().sock_connect(plain, ("127.0.0.1", self.options.port))
        except BaseException:
            plain.close()
            raise
        return plain

    async def begin(self, plain):
        """Brings the connection to the point where it occupies a worker; returns the bytes to send slowly from then on."""
        kind = self.options.kind
        if kind == "handshake":
            await asyncio.get_running_loop().sock_sendall(plain, b"\x16\x03\x01\x02\x00")
            return None
        stream = Stream(plain, self.context)
        await stream.shake_hands()
        if kind == "head":
            await stream.send(self.head("GET", "/v1/orders"))
            return lambda: stream.send(b"X")
        if kind == "body":
            await stream.send(self.head("POST", "/v1/orders", "Content-Length: 60000", "Idempotency-Key: slow") + b"\r\n")
            return lambda: stream.send(b" ")
        if kind == "reader":
            path = "/v1/orders?per_page=50" if self.options.key else "/v1/openapi.json"
            await stream.send((self.head("GET", path) + b"\r\n") * 4)
            return None
        await stream.send(self.head("GET", "/v1/orders?per_page=1" if self.options.key else "/healthz") + b"\r\n")
        await stream.read()
        if kind == "half-open":
            # The client disappears without FIN or RST, if the kernel permits that; otherwise it stays silent.
            with contextlib.suppress(OSError):
                plain.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
        return None

    async def one(self, number):
        """One connection, until the server closes it."""
        plain = await self.connect(number)
        with contextlib.closing(plain):
            drip = await self.begin(plain)
            while struct.unpack("B", plain.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1))[0] == ESTABLISHED:
                await asyncio.sleep(DRIP_S)
                if drip:
                    await drip()

    async def keep(self, number, tickets):
        while True:
            await tickets.get()
            self.opened += 1
            self.open += 1
            try:
                await self.one(number)
            except (OSError, ssl.SSLError):
                pass
            self.open -= 1
            self.cut += 1

    async def run(self):
        tickets = asyncio.Queue()
        end = time.monotonic() + self.options.seconds
        tasks = [asyncio.create_task(self.keep(n, tickets)) for n in range(self.options.count)]
        given, said, begin = 0, 0, time.monotonic()
        first_s = self.options.count / self.options.first_rate
        while (now := time.monotonic()) < end:
            passed = now - begin
            due = passed * self.options.first_rate
            if passed > first_s:
                due = self.options.count + (passed - first_s) * self.options.rate
            while given < due:
                given += 1
                # Missed sends are not made up for: otherwise a quiet minute would end in a burst.
                if given <= self.options.count or tickets.qsize() < self.options.rate:
                    tickets.put_nowait(None)
            if passed >= said:
                said += 0.5
                print(json.dumps({"open": self.open, "opened": self.opened, "cut": self.cut}), flush=True)
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--kind", choices=KINDS, required=True)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--sources", type=int, default=1)
    parser.add_argument("--first-rate", type=int, default=250)
    parser.add_argument("--rate", type=int, default=50)
    parser.add_argument("--key")
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    os.nice(5)
    asyncio.run(Attack(options).run())


if __name__ == "__main__":
    sys.exit(main())
