"""A line that cuts: a port whose connections lead to another one, and of which many end in the middle of a request or of its
answer. Bytes are passed as they are, so that TLS is the box's."""

import contextlib
import random
import selectors
import socket
import struct
import threading

# A handshake of TLS takes some 3,000 bytes, a request and its answer as much: cuts fall before, between and after.
BYTES_MAX = 12_000


class CuttingLine:
    """`share` of the connections are cut. `cuts` counts them."""

    def __init__(self, port, seed, share=0.5):
        self.port, self.share, self.cuts = port, share, 0
        self._random = random.Random(seed)
        self._server = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{self._server.getsockname()[1]}"

    def __enter__(self):
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._server.accept()
                is_cut = self._random.random() < self.share
                limit = self._random.randrange(BYTES_MAX) if is_cut else None
                threading.Thread(target=self._carry, args=(near, limit), daemon=True).start()

    def _carry(self, near, limit):
        passed = 0
        with contextlib.ExitStack() as stack:
            stack.enter_context(near)
            try:
                far = stack.enter_context(socket.create_connection(("127.0.0.1", self.port)))
                with selectors.DefaultSelector() as both:
                    both.register(near, selectors.EVENT_READ, far)
                    both.register(far, selectors.EVENT_READ, near)
                    while True:
                        for key, _ in both.select():
                            read = key.fileobj.recv(1 << 16)
                            if not read:
                                return
                            if limit is not None and passed + len(read) > limit:
                                key.data.sendall(read[:limit - passed])
                                self._cut(near)
                                return
                            passed += len(read)
                            key.data.sendall(read)
            except OSError:
                return

    def _cut(self, near):
        """Ends it with a reset, as a router does that has lost its table."""
        self.cuts += 1
        near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
