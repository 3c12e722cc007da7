"""A kitchen display in a process of its own, so that a test can freeze it (SIGSTOP), and a line to it that fails without closing.

    with Screen(box, key, "horno", station, port=proxy.port) as screen:
        …screen.freeze(), screen.thaw()…"""

import contextlib
import http.client
import json
import os
import select
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time


class Screen:
    def __init__(self, box, key, name, station, port=None):
        self.words = [sys.executable, __file__, str(port or box.port), str(box.cafile), key, name, station]

    def __enter__(self):
        self.process = subprocess.Popen(self.words)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self):
        os.kill(self.process.pid, signal.SIGCONT)


class Line:
    """Between a display and the box, TCP for TCP. `state`: pass, cut (every connection ends), silent (nothing passes, and nothing
    is closed), drip (a byte of an answer in a second), delay (each piece of an answer comes 2 s later)."""

    def __init__(self, port):
        self.target, self.state, self.pairs = port, "pass", []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, state):
        self.state = state
        if state == "cut":
            self._end_all()

    def close(self):
        self.is_closed = True
        self.listener.close()
        self._end_all()

    def _end_all(self):
        for ends in self.pairs:
            for end in ends:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            if self.state == "cut":
                client.close()
                continue
            server = socket.create_connection(("127.0.0.1", self.target))
            self.pairs.append((client, server))
            for source, sink, is_answer in ((client, server, False), (server, client, True)):
                threading.Thread(target=self._pass, args=(source, sink, is_answer), daemon=True).start()

    def _pass(self, source, sink, is_answer):
        with contextlib.suppress(OSError, ValueError), contextlib.closing(source), contextlib.closing(sink):
            while not self.is_closed:
                if self.state == "silent" or not select.select([source], [], [], 0.1)[0]:
                    time.sleep(0.02)
                    continue
                slow = self.state if is_answer else "pass"
                piece = source.recv(1 if slow == "drip" else 65536)
                if not piece:
                    return
                time.sleep({"drip": 1, "delay": 2}.get(slow, 0))
                sink.sendall(piece)


def main(port, cafile, key, name, station):
    """Lists, and follows: asks again when it has drawn what came."""
    context, after = ssl.create_default_context(cafile=cafile), None
    headers = {"X-API-Key": key, "Prefer": "wait=25"}
    while True:
        connection = http.client.HTTPSConnection("127.0.0.1", int(port), timeout=20, context=context)
        try:
            while True:
                if after is None:
                    connection.request("GET", "/v1/kitchen/tickets", headers=headers)
                    answer = connection.getresponse()
                    answer.read()
                    after = answer.headers["X-Event-Cursor"]
                connection.request("GET", f"/v1/kitchen/changes?after={after}&display={name}&stations={station}", headers=headers)
                answer = connection.getresponse()
                body = answer.read()
                after = json.loads(body)["next"] if answer.status == 200 else None
        except (OSError, http.client.HTTPException, ValueError):
            time.sleep(0.5)
        finally:
            connection.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
