"""Stands between comanda-head and PostgreSQL on a Unix socket, knows the messages of the protocol (version 3), and fails one
of them: a COMMIT that does not arrive, one whose answer is lost, one that is rolled back, a server that hangs altogether or in
each COMMIT. It can also change what the server says of itself."""

import contextlib
import pathlib
import shutil
import socket
import struct
import tempfile
import threading

PORT_FILE = ".s.PGSQL.5432"


class Cut(Exception):
    """Ends the connection on both sides."""


def messages(read):
    """Of a stream: (type, whole message)."""
    while True:
        kind = read(1)
        length = read(4)
        yield kind, kind + length + read(struct.unpack("!I", length)[0] - 4)


class Session:
    """What a connection has prepared, and whether its transaction is one of a job on the restaurants' schema: it has more in it
    than what the owner of the database does to show that it still is."""

    def __init__(self):
        self.statements, self.is_live, self.is_job, self.only_reads = {}, True, False, False

    def note(self, kind, message):
        if kind == b"P":
            name, sql = message[5:].split(b"\0")[:2]
            self.statements[name] = sql
        elif kind == b"B":
            sql = self.statements.get(message[5:].split(b"\0")[1], b"")
            if sql.startswith(b"BEGIN"):
                self.is_job, self.only_reads = False, sql != b"BEGIN"
            elif sql != b"COMMIT" and b"UPDATE owner" not in sql:
                self.is_job = self.is_live and not self.only_reads


class Proxy:
    """`faults`: how the next commits of jobs are failed: "before" the server has it, its "answer", or as a "rollback" """

    def __init__(self, server_directory):
        self.server = str(pathlib.Path(server_directory, PORT_FILE))
        self.directory = tempfile.mkdtemp(prefix="comanda-pgp-")
        self.lock = threading.Lock()
        self.faults = []  # guarded by lock; the next one first
        self.failed = 0  # guarded by lock
        self.hangs = threading.Event()
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.commits_go_on = threading.Event()
        self.commits_go_on.set()
        self.passed = 0  # messages in both directions; guarded by lock
        self.cut_at = None  # the connection of the message of that number ends before it passes; guarded by lock
        self.changed = {}  # of each message of the server: these bytes, and others of the same length
        self.is_pooler = False  # sessions have another number than the server's, as behind pgbouncer
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.directory + "/" + PORT_FILE)
        self.listener.listen(64)
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.go_on()
        self.listener.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def fail(self, how, times=1):
        with self.lock:
            self.faults += [how] * times

    def hang(self):
        """Nothing passes, and no connection ends, until go_on()."""
        self.goes_on.clear()

    def hang_in_commits(self):
        """Reads are answered, but no COMMIT, until go_on(): a former primary that woke up without its standbys."""
        self.commits_go_on.clear()

    def go_on(self):
        self.goes_on.set()
        self.commits_go_on.set()

    def cut_after(self, count):
        """Ends the connection whose message follows that many others."""
        with self.lock:
            self.cut_at = self.passed + count

    def _count(self):
        with self.lock:
            if self.cut_at == self.passed:
                self.cut_at = None
                raise Cut
            self.passed += 1

    def _take(self, how):
        with self.lock:
            if self.faults[:1] != [how]:
                return False
            self.faults.pop(0)
            self.failed += 1
            return True

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(self.server)
        except OSError:
            client.close()
            return
        both = (client, server, Session())
        threading.Thread(target=self._carry, args=(client, server, self._from_client, both), daemon=True).start()
        threading.Thread(target=self._carry, args=(server, client, self._from_server, both), daemon=True).start()

    def _carry(self, source, sink, look, both):
        *both, session = both
        def read(size):
            data = b""
            while len(data) < size:
                piece = source.recv(size - len(data))
                if not piece:
                    raise Cut
                data += piece
            return data

        try:
            if look == self._from_client:  # the start has no type
                length = read(4)
                start = read(struct.unpack("!I", length)[0] - 4)
                session.is_live = b"search_path=live" in start
                sink.sendall(length + start)
            for kind, message in messages(read):
                self.goes_on.wait()
                self._count()
                sink.sendall(look(kind, message, session))
        except (Cut, OSError):
            pass
        for one in both:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _from_client(self, kind, message, session):
        session.note(kind, message)
        if kind == b"P" and message[5:].split(b"\0")[1] == b"COMMIT":
            if session.is_job and self._take("before"):
                raise Cut
            if session.is_job and self._take("rollback"):
                text = message[5:].replace(b"COMMIT", b"ROLLBACK")
                return kind + struct.pack("!I", len(text) + 4) + text
            self.commits_go_on.wait()
        return message

    def _from_server(self, kind, message, session):
        if kind == b"C" and message[5:] == b"COMMIT\0" and session.is_job and self._take("answer"):
            raise Cut
        if kind == b"K" and self.is_pooler:
            message = message[:5] + struct.pack("!I", 4_000_000) + message[9:]
        for told, other in self.changed.items():
            message = message.replace(told, other)
        return message
