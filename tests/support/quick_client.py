"""A client for tests that send tens of thousands of requests: one keep-alive connection, any API key per request, and a
parser for just the HTTP that this server sends. It ignores the validity dates of the server's certificate, because the
test may control the server's clock (support/wall_clock.py)."""

import socket
import ssl
import time

from support.box import PATIENCE_S, Answer

NO_CHECK_TIME = 0x200000  # X509_V_FLAG_NO_CHECK_TIME, which Python does not name
# The server closes a connection that is idle for 15 s.
IDLE_MAX_S = 5


def context_without_dates(cafile):
    context = ssl.create_default_context(cafile=str(cafile))
    context.verify_flags |= NO_CHECK_TIME
    return context


class QuickClient:
    def __init__(self, box):
        self.port, self.context = box.port, context_without_dates(box.cafile)
        self.socket, self.used_at = None, 0

    def close(self):
        if self.socket:
            self.socket.close()
            self.socket = None

    def send(self, key, method, path, body=None, idempotency_key=None, **headers):
        """`body`: JSON as text."""
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", "Authorization: Bearer " + key]
        if idempotency_key:
            lines.append("Idempotency-Key: " + idempotency_key)
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        content = b"" if body is None else body.encode()
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
        return self._exchange("\r\n".join([*lines, "", ""]).encode() + content)

    def _exchange(self, request):
        if self.socket and time.monotonic() - self.used_at > IDLE_MAX_S:
            self.close()
        if not self.socket:
            plain = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
            plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.socket = self.context.wrap_socket(plain, server_hostname="127.0.0.1")
        self.socket.sendall(request)
        answer = self._read_answer()
        self.used_at = time.monotonic()
        if answer.headers.get("connection") == "close":
            self.close()
        return answer

    def _read_answer(self):
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self._receive()
        status, *fields = data[:end].decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (field.split(": ", 1) for field in fields)}
        length = int(headers.get("content-length", 0))
        pieces, missing = [data[end + 4:]], length - (len(data) - end - 4)
        while missing > 0:
            pieces.append(self._receive())
            missing -= len(pieces[-1])
        return Answer(int(status.split(" ")[1]), headers, b"".join(pieces))

    def _receive(self):
        received = self.socket.recv(1 << 18)
        if not received:
            raise ConnectionResetError("the server closed the connection before its answer ended")
        return received
