"""Requests as bytes over TLS, for input that no client library would send."""

import contextlib
import socket
import ssl

from support.box import Answer, PATIENCE_S, again_if_cut


def head(method="GET", path="/healthz", *fields, host="localhost"):
    """The head of a request, with the empty line that ends it."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *fields, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def chunked(*pieces):
    """A whole chunked body."""
    return b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in pieces) + b"0\r\n\r\n"


class Wire:
    """One TLS connection that sends any bytes and reads whole answers."""

    def __init__(self, box, context=None):
        context = context or box.client().tls()
        self.socket = again_if_cut(lambda: self._connected(box.port, context))
        self.reader = self.socket.makefile("rb")

    @staticmethod
    def _connected(port, context):
        plain = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        try:
            return context.wrap_socket(plain, server_hostname="localhost")
        except BaseException:
            plain.close()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.reader.close()
        self.socket.close()

    def send(self, *pieces):
        """Sends, ignoring errors: the server may answer and close before it has read everything."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
            for piece in pieces:
                self.socket.sendall(piece)
        return self

    def interim(self):
        """The status of an interim answer, which has no fields."""
        line = self.reader.readline()
        assert self.reader.readline() == b"\r\n", line
        return int(line.split(b" ")[1])

    def answer(self, has_body=True):
        line = self.reader.readline()
        assert line.startswith(b"HTTP/1.1 ") and line.endswith(b"\r\n"), line
        status = int(line.split(b" ")[1])
        headers = {}
        while (field := self.reader.readline()) != b"\r\n":
            name, colon, value = field.decode("latin-1").partition(": ")
            assert colon and value.endswith("\r\n"), field
            assert name.lower() not in headers, f"{name} came twice"
            headers[name.lower()] = value[:-2]
        assert "transfer-encoding" not in headers
        if status in (204, 304):
            assert "content-length" not in headers
            return Answer(status, headers, b"")
        size = int(headers["content-length"])
        body = self.reader.read(size) if has_body else b""
        assert not has_body or len(body) == size
        return Answer(status, headers, body)

    def is_answered(self):
        """Waits for the first byte of an answer. False if the server closes the connection without one."""
        try:
            return self.reader.peek(1) != b""
        except (ConnectionResetError, ssl.SSLError):
            return False

    def is_closed(self):
        """True if the server closes the connection without another byte."""
        try:
            return self.reader.read(1) == b""
        except (ConnectionResetError, ssl.SSLError):
            return True

    def is_open(self):
        """True if the connection still serves, and no bytes of an earlier request are left over."""
        self.send(head("GET", "/healthz"))
        answer = self.answer()
        return answer.status == 200 and answer.json == {"status": "ok"}


def ask(box, *pieces, has_body=True):
    """One answer on a connection of its own."""
    with Wire(box) as wire:
        return wire.send(*pieces).answer(has_body)
