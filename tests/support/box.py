"""The real server under test: started, spoken to over HTTPS, stopped or killed."""

import contextlib
import dataclasses
import functools
import http.client
import itertools
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
import uuid
import weakref

from support.database_files import DatabaseFiles
from support.waiting import PATIENCE_S, wait_until

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# The engine of the database of boxes that name none: sqlite or postgresql.
ENGINE = os.environ.get("COMANDA_ENGINE", "sqlite")
# COMANDA_BINARY lets the same tests run on the sanitizer build, COMANDA_RUNNER under an emulator.
COMANDA = pathlib.Path(os.environ.get("COMANDA_BINARY", ROOT / "build/release/comanda")).resolve()
PROGRAMS = {
    "sqlite": COMANDA,
    "postgresql": pathlib.Path(os.environ.get("COMANDA_HEAD_BINARY", COMANDA.with_name("comanda-head"))).resolve(),
}
BINARY = PROGRAMS[ENGINE]
RUNNER = os.environ.get("COMANDA_RUNNER", "").split()
# `scripts/test --long`: the instruments' full sizes, for hours; else those of every run.
LONG = bool(os.environ.get("COMANDA_LONG"))


def entries(directory):
    """(path, lstat) of all below the directory of a running server, but for temporary files that go meanwhile."""
    for path in directory.rglob("*"):
        with contextlib.suppress(FileNotFoundError):
            yield path, path.lstat()


FIRST_PORT, PORTS_OF_PROCESS = 10_000, 128


@functools.cache
def ports_of(process, network):
    """(an endless iterator over the ports of that process alone, the socket that reserves them while the process lives)"""
    # Below the range for outgoing connections, of which tests open thousands.
    end = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    ranges = (end - FIRST_PORT) // PORTS_OF_PROCESS
    for number in range(process, process + ranges):
        first = FIRST_PORT + number % ranges * PORTS_OF_PROCESS
        # A name in the abstract name space, which each network has for itself as it has its ports.
        reserved = socket.socket(socket.AF_UNIX)
        try:
            reserved.bind(f"\0comanda-test-ports-{first}")
            return itertools.cycle(range(first, first + PORTS_OF_PROCESS)), reserved
        except OSError:
            reserved.close()
    raise AssertionError("every range of ports is reserved by another process")


def free_port():
    """A free port, which no other process of a test takes before the server listens on it, whatever runs at the same time."""
    ports, _ = ports_of(os.getpid(), os.stat("/proc/thread-self/ns/net").st_ino)
    while True:
        with socket.socket() as s, contextlib.suppress(OSError):
            s.bind(("0.0.0.0", next(ports)))
            return s.getsockname()[1]


@dataclasses.dataclass
class Answer:
    status: int
    headers: dict  # names in lower case
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def data(self):
        return self.json["data"]

    @property
    def code(self):
        """The code of a problem document."""
        assert self.headers.get("content-type") == "application/problem+json", (self.status, self.body[:300])
        return self.json["code"]

    @property
    def fields(self):
        """{field: code} of a problem's errors[]."""
        return {e["field"]: e["code"] for e in self.json.get("errors", [])}

    @property
    def etag(self):
        return self.headers["etag"]


def again_if_cut(connect):
    """Calls connect() up to three times: the server cuts a handshake that takes 5 s, and on a busy machine a client may not get
    the processor for so long."""
    for _ in range(2):
        with contextlib.suppress(ConnectionResetError, ssl.SSLEOFError, ssl.SSLZeroReturnError):
            return connect()
    return connect()


class Client:
    """One keep-alive connection with an API key."""

    def __init__(self, port, key=None, cafile=None, address="127.0.0.1"):
        self.port, self.key, self.cafile, self.address = port, key, cafile, address
        self.connection = None

    def tls(self):
        context = ssl.create_default_context(cafile=self.cafile)
        context.verify_flags |= ssl.VERIFY_X509_STRICT  # the default from Python 3.13 on
        return context

    def connect(self):
        self.connection = http.client.HTTPSConnection(
            self.address, self.port, timeout=PATIENCE_S, context=self.tls())
        again_if_cut(self.connection.connect)

    def close(self):
        if self.connection:
            self.connection.close()
            self.connection = None

    def send(self, method, path, body=None, headers=None):
        """One request. `body`: an object for JSON, or bytes as they are."""
        sent = dict(headers or {})
        if self.key and not {"authorization", "x-api-key"} & {n.lower() for n in sent}:
            sent["Authorization"] = "Bearer " + self.key
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        fresh = self.connection is None
        if fresh:
            self.connect()
        try:
            return self._exchange(method, path, body, sent)
        except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError, ssl.SSLEOFError):
            # The server may close an idle keep-alive connection at any time (RFC 9112 section 9.5).
            self.close()
            if fresh:
                raise
            self.connect()
            return self._exchange(method, path, body, sent)

    def _exchange(self, method, path, body, headers):
        self.connection.request(method, path, body=body, headers=headers)
        response = self.connection.getresponse()
        answer = Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
        if response.will_close:
            self.close()
        return answer

    def get(self, path, **headers):
        return self.send("GET", path, headers=headers)

    def post(self, path, body=None, headers=None):
        return self.send("POST", path, body, headers)

    def put(self, path, body=None, headers=None):
        return self.send("PUT", path, body, headers)

    def patch(self, path, body=None, headers=None):
        return self.send("PATCH", path, body, headers)

    def delete(self, path, headers=None):
        return self.send("DELETE", path, headers=headers)

    # Common requests.
    def all(self, path):
        """The rows of a list, of all its pages."""
        rows, page = [], 1
        while True:
            answer = self.get(f"{path}{'&' if '?' in path else '?'}per_page=100&page={page}")
            assert answer.status == 200, (answer.status, answer.body)
            rows += answer.data
            if not answer.json["pagination"]["has_more"]:
                return rows
            page += 1

    def place(self, reference=None, **fields):
        """A new order; returns its record."""
        fields.setdefault("service_type", "ONSITE")
        answer = self.post("/v1/orders", fields, {"Idempotency-Key": reference or str(uuid.uuid4())})
        assert answer.status == 201, (answer.status, answer.body)
        return answer.data

    def add(self, order, *items):
        answer = self.post(f"/v1/orders/{order['id']}/combos", {"combos": list(items)})
        assert answer.status == 200, (answer.status, answer.body)
        return answer.data

    def pay(self, order, amount, code="cash", **fields):
        answer = self.post(f"/v1/orders/{order['id']}/payments",
                           {"payment_method_code": code, "amount": amount, **fields})
        assert answer.status == 200, (answer.status, answer.body)
        return answer.data

    def advance(self, order, status):
        answer = self.patch(f"/v1/orders/{order['id']}/status", {"status": status})
        assert answer.status == 200, (answer.status, answer.body)
        return answer.data

    def sell(self, *items):
        """An order's whole life, each item in a call of its own."""
        order = self.place(comment="sin cebolla")
        for item in items:
            order = self.add(order, item)
        self.advance(order, "PREPARING")
        self.advance(order, "READY")
        self.pay(order, order["pending_amount"])
        self.advance(order, "DELIVERED")


def databases_of(data, engine):
    if engine == "sqlite":
        return DatabaseFiles(data)
    from support.postgresql import Database  # needs a package that most groups do without
    return Database.of(data)


class Box:
    """A server process with a data directory of its own."""

    launched = weakref.WeakSet()  # all of this run

    def __init__(self, data=None, options=(), binary=None, env=None, cafile=None, engine=ENGINE):
        self.data = pathlib.Path(data or tempfile.mkdtemp(prefix="comanda-test-"))
        self.owned = data is None
        self.options, self.binary, self.env = list(options), binary or PROGRAMS[engine], env
        self.databases = databases_of(self.data, engine)
        if self.databases.settings and not self.settings_file.exists():
            self.settings = ""
        # What clients trust: the box's own authority, unless its owner configured a certificate.
        self.cafile = cafile or self.data / "tls/ca.crt"
        self.address, self.port = "127.0.0.1", free_port()
        self.process = None
        self.wrapper = []  # a program that runs the server: strace
        self.preexec = None  # called in the child before it becomes the server
        self.log_path = self.data / "test.log"

    @property
    def settings_file(self):
        return self.data / "comanda.conf"

    @property
    def settings(self):
        """The text of the settings file, but for where the database is."""
        return self.settings_file.read_text().replace(self.databases.settings, "")

    @settings.setter
    def settings(self, text):
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.databases.settings:
            self.settings_file.touch(mode=0o600)
            text += "\n" if text and not text.endswith("\n") else ""
        self.settings_file.write_text(text + self.databases.settings)

    def command(self, *words, check=True, input=None):
        """A command of the command line; its result."""
        result = subprocess.run([*RUNNER, str(self.binary), *words], capture_output=True, text=True,
                                input=input, timeout=PATIENCE_S * 4, env=self._environment())
        if check:
            assert result.returncode == 0, (words, result.returncode, result.stdout, result.stderr)
        return result

    def bring_in(self, file="demo", env="live"):
        """The demo restaurant without its two orders, which `comanda import demo` places (tests count their own)."""
        file = ROOT / "src/app/demo.json" if file == "demo" else file
        return self.command("import", str(file), "--data", str(self.data), "--env", env)

    def make_key(self, scopes="all", tier="unlimited", company=None, env="live", name="test"):
        words = ["keys", "create", "--data", str(self.data), "--name", name, "--scopes", scopes,
                 "--tier", tier, "--env", env, "--json"]
        if company:
            words += ["--company", company]
        return json.loads(self.command(*words).stdout)

    def _environment(self):
        return {**os.environ, **(self.env or {})}

    def start(self):
        self.launch()
        self.wait_ready()
        return self

    def launch(self):
        """Starts the server and does not wait for it."""
        Box.launched.add(self)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                [*self.wrapper, *RUNNER, str(self.binary), "serve", "--data", str(self.data),
                 "--listen", f"{self.address}:{self.port}", *self.options],
                stdout=log, stderr=subprocess.STDOUT, env=self._environment(), preexec_fn=self.preexec)

    def wait_ready(self):
        wait_until(self._answers, lambda: "the server does not answer:\n" + self.log_text())

    def _answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended with {self.process.returncode}:\n{self.log_text()}")
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(self.client()) as client:
            return client.get("/healthz")

    def client(self, key=None, address="127.0.0.1"):
        return Client(self.port, key, str(self.cafile), address)

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE_S)

    def kill_if_running(self):
        if self.process and self.process.poll() is None:
            self.kill()

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                raise AssertionError("the server does not stop:\n" + self.log_text()) from None
        return self.process.returncode if self.process else 0

    def discard(self):
        """Stops the server and deletes its data."""
        try:
            return self.stop()
        finally:
            if self.owned:
                self.databases.drop()
                for directory in (self.data, *self.data.parent.glob(self.data.name + ".before-restore-*")):
                    shutil.rmtree(directory, ignore_errors=True)

    def log_text(self):
        return self.log_path.read_text(errors="replace")

    def wait_for_log(self, words):
        """Waits, because a line may be written slightly after the event that it reports."""
        wait_until(lambda: words in self.log_text(), lambda: f"{words!r} is not in the log:\n{self.log_text()[-3000:]}")

    def cpu_seconds(self):
        """CPU time of all threads, in nanoseconds: /proc/PID/stat counts ticks of 10 ms. The clock id is that of
        clock_getcpuclockid(3)."""
        return time.clock_gettime(~self.process.pid << 3 | 2)

    # The rows, for what the API does not show and for what only time or another program makes of them: plain SQL of both
    # engines, with a ? for each value.
    def database(self, env="live", writes=True):
        """A connection beside the server; each statement is its own transaction."""
        return contextlib.closing(self.databases.connect(env, writes))

    def rows(self, sql, *values, env="live"):
        with self.database(env, writes=False) as db:
            return db.rows(sql, *values)

    def value(self, sql, *values, env="live"):
        """Of the one column of the one row."""
        ((value,),) = self.rows(sql, *values, env=env)
        return value

    def execute(self, sql, *values, env="live"):
        """How many rows it changed."""
        with self.database(env) as db:
            return db.execute(sql, *values)

    @contextlib.contextmanager
    def locked(self):
        """As long as it lasts, somebody else has the database for writing."""
        with self.database() as db:
            db.lock()
            yield
            db.unlock()

    def all_rows(self, without=()):
        """{table: every row as text}"""
        with self.database(writes=False) as db:
            return {table: sorted(map(repr, db.rows(f'SELECT * FROM "{table}"')))
                    for table in db.tables() if table not in without}

    def events(self, order_id):
        """[(type, {changes})] of one order, oldest first."""
        rows = self.rows("SELECT type, changes FROM event WHERE subject_id = ? ORDER BY seq", order_id)
        return [(kind, set(filter(None, changes.split(",")))) for kind, changes in rows]


def serving_the_demo():
    """A box of its own with the demo restaurant: `box = pytest.fixture(scope="module")(serving_the_demo)`."""
    box = Box()
    box.bring_in("demo")
    box.start()
    yield box
    assert box.discard() == 0, "the server did not end cleanly"
