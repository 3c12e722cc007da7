"""Records what the server answers, byte for byte, as text that can be compared and read.

What cannot be the same in two runs (ids, instants, keys, tags, cursors, dates, seconds to wait) is replaced by a name
with a number, in the order of first appearance: two places that showed the same value show the same name. Everything
else is kept as it came: the status line, every header in its order, every byte of the body."""

import base64
import collections
import contextlib
import datetime
import difflib
import gzip
import hashlib
import json
import re
import socket
import time
import types
import zoneinfo

from support.box import Answer, PATIENCE_S
from support.raw import Wire

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
INSTANT = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"
HTTP_DATE = r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT"
# Bodies above this are kept as their digest, unless a file of the sources has the same bytes.
SHOWN_MAX = 12_000


class Names:
    """Replaces the values that differ between two runs."""

    def __init__(self):
        self.numbers = collections.defaultdict(dict)  # kind -> {value: its number}
        self.known = {}  # value -> its name, for values that have no form of their own
        self.began = time.time()

    def number(self, kind, value):
        numbers = self.numbers[kind]
        return f"{{{kind} {numbers.setdefault(value, len(numbers) + 1)}}}"

    def _uuid(self, match):
        """Only those that were made in this run: their first 48 bits are milliseconds (RFC 9562 section 5.7)."""
        value = match[0]
        made_s = int(value[:8] + value[9:13], 16) / 1000
        return self.number("id", value) if value[14] == "7" and abs(made_s - self.began) < 86_400 else value

    def _instant(self, match):
        at = datetime.datetime.strptime(match[0], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=datetime.timezone.utc)
        return self.number("instant", match[0]) if abs(at.timestamp() - self.began) < 90 * 86_400 else match[0]

    def text(self, text):
        """Names whose length is that of the value's: Content-Length stays true."""
        for value, name in self.known.items():
            # A day of its own is no part of an instant, and not the day that a message has as an example.
            text = re.sub("(?<!a day as )" + re.escape(value) + "(?!T)", name, text)
        for value, number in self.numbers["order"].items():
            text = text.replace(value, f"{{order {number}}}")
        text = re.sub(rf'"last_used_at":"{INSTANT}"', '"last_used_at":"{used}"', text)
        text = re.sub(rf'"event_id":"({UUID})"', lambda m: f'"event_id":"{self.number("event", m[1])}"', text)
        text = re.sub(r"cmd_(?:live|test)_[0-9A-Za-z]{38}", lambda m: self.number("key", m[0]), text)
        text = re.sub(r'"(code|request)":"([0-9A-Za-z]{22})"', lambda m: f'"{m[1]}":"{self.number(m[1], m[2])}"', text)
        text = re.sub(r"//127\.0\.0\.1:\d{5}/(\w+)#c=([0-9A-Za-z]{22})",
                      lambda m: f"//127.0.0.1:{{port}}/{m[1]}#c={self.number('code', m[2])}", text)
        text = re.sub(r'"number":"(\d{6})"', lambda m: f'"number":"{self.number("number", m[1])}"', text)
        text = re.sub(r"devices/requests/(\d{6})", lambda m: f"devices/requests/{self.number('number', m[1])}", text)
        text = re.sub(r'"key_prefix":"(cmd_\w+?_)\w{3}"', r'"key_prefix":"\1{xxx}"', text)
        text = re.sub(r'last_four":"[\w+/=]{4}"', 'last_four":"{xxxx}"', text)
        text = re.sub(r"whsec_[\w+/]{43}=", lambda m: self.number("secret", m[0]), text)
        text = re.sub(r'"business_day":"\d{4}-\d\d-\d\d"', '"business_day":"{today}"', text)
        text = re.sub(r'"duration_ms":\d+', '"duration_ms":{n}', text)
        text = re.sub(r"after \d+ ms", "after {n} ms", text)
        # Of the pages' files, which the bundler makes: its releases differ.
        text = re.sub(r"\b(page\.|kitchen )[0-9a-f]{12}\b", r"\1{hash}", text)
        text = re.sub(UUID, self._uuid, text)
        return re.sub(INSTANT, self._instant, text)

    def epoch(self, value):
        return self.number("epoch", value)

    def body(self, text):
        """(the text with names, whether a name replaces values of different lengths)"""
        for value in re.findall(r'"public_id":"([A-Z]{2}-\d{10})"', text):
            self.number("order", value)
        text = self.text(text)
        sized = re.sub(r'"(cursor|next|oldest_cursor)":"([0-9a-z]+)\.(\w+)"',
                       lambda m: f'"{m[1]}":"{self.cursor(m[2], m[3])}"', text)
        sized = re.sub(r'"svg":"<svg .*?</svg>"', '"svg":"{svg}"', sized)
        sized = re.sub(r'"currently_open":(true|false)', '"currently_open":{open}', sized)
        sized = re.sub(r'("(?:rows|disk|clock)":\{"ok":true,"state":)"[^"]*"', r'\1"{state}"', sized)
        sized = re.sub(r"\b([Ww])ait (\d+) (s\b|seconds?)", r"\1ait {seconds} \3", sized)
        return sized, sized != text

    def cursor(self, epoch, position):
        return f"{self.number('cursor', epoch)}.{position}"

    def field(self, line):
        """One header line of a request or an answer."""
        name, _, value = line.partition(": ")
        lower = name.lower()
        if lower == "date" and re.fullmatch(HTTP_DATE, value):
            value = "{date}"
        elif lower in ("retry-after", "ratelimit-remaining", "ratelimit-reset") and value.isdigit():
            value = "{" + lower.rpartition("-")[2] + "}"
        elif lower in ("etag", "if-none-match", "if-match"):
            value = re.sub(r'W/"([^"]+)"', lambda m: f'W/"{self.number("tag", m[1])}"', value)
            value = re.sub(r'"(\d+)\.(\d+)\.(\d+)"', lambda m: f'"{m[1]}.{m[2]}.{self.epoch(m[3])}"', value)
        elif lower == "x-event-cursor":
            value = self.cursor(*value.split("."))
        elif lower == "authorization" and value.startswith("Basic "):
            value = "Basic " + base64.b64encode(b"{key}").decode()
        return f"{name}: {self.text(value)}" if value or line.endswith(": ") else line


def lines_of(body):
    """One member of a JSON document on a line; the lines joined are the bytes."""
    if body[:1] not in ("{", "[") or "\n" in body:
        return body.split("\n")
    lines, begin, in_string, escaped = [], 0, False, False
    for at, char in enumerate(body):
        if in_string:
            in_string = escaped or char != '"'
            escaped = char == "\\" and not escaped
        elif char == '"':
            in_string = True
        elif char == ",":
            lines.append(body[begin:at + 1])
            begin = at + 1
    return [*lines, body[begin:]]


class Unix:
    """A connection to the socket of the command line, with the face of a Wire."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(str(path))
        self.reader = self.socket.makefile("rb")

    def send(self, *pieces):
        for piece in pieces:
            self.socket.sendall(piece)
        return self

    def is_closed(self):
        return self.reader.read(1) == b""

    def __exit__(self, *_):
        self.reader.close()
        self.socket.close()


class Recorder:
    """Asks a box and writes down question and answer. `ask` is for whole requests, `raw` for any bytes."""

    def __init__(self, box, sources=()):
        self.box, self.names = box, Names()
        self.text, self.titles, self.whole = [], set(), []  # whole: [(title, lines, Counter)]
        self.clients, self.wires = {}, {}
        self.sources = {path.read_bytes(): path.name for path in sources}
        self.sized = set()  # paths whose answers have no length of their own
        self.placed = 0

    # Whom the box sees
    def client(self, who, key=None, port=None):
        self.clients[who] = (key, port or self.box.port)
        if key:
            self.names.number("key", key)

    def connect(self, port):
        if isinstance(port, str):
            return Unix(self.box.data / port)
        return Wire(types.SimpleNamespace(port=port, client=self.box.client))

    def wire(self, port):
        if port not in self.wires:
            self.wires[port] = self.connect(port)
        return self.wires[port]

    def close(self, port):
        self.wires.pop(port).__exit__()

    def close_all(self):
        for port in list(self.wires):
            self.close(port)

    # Questions
    def ask(self, title, method, path, body=None, *fields, who="owner", host="localhost"):
        """One request on a connection that is kept. `body`: an object for JSON, or bytes as they are."""
        key, port = self.clients[who]
        if method == "POST" and path == "/v1/orders" and body is not None:
            if not any(f.startswith("Idempotency-Key") for f in fields):
                self.placed += 1
                fields = (f"Idempotency-Key: order-{self.placed}", *fields)
        named = [name.partition(":")[0].lower() for name in fields]
        sent = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
        if key and not {"authorization", "x-api-key"} & set(named):
            sent.append(f"X-API-Key: {key}")
        sent += fields
        if body is not None:
            if not isinstance(body, bytes):
                body = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
            if "content-type" not in named:
                sent.append("Content-Type: application/json")
            sent.append(f"Content-Length: {len(body)}")
        data = "\r\n".join([*sent, "", ""]).encode() + (body or b"")
        shown = [f"{method} {self.names.text(self._path(path))} (as {who})"]
        shown += [self.names.field(line) for line in fields]
        if body is not None:
            shown.append(self._short(self.names.text(body.decode("utf-8", "backslashreplace"))))
        wire = self.wire(port)
        wire.send(data)
        answer, lines = self._read(wire, method, path)
        if answer.headers.get("connection") == "close":
            lines.append("(the connection is closed)" if wire.is_closed() else "(the connection stays open)")
            self.close(port)
        self._write(title, shown, [lines])
        time.sleep(0.002)  # two writes never have the same instant
        return answer

    def raw(self, title, *pieces, answers=1, head=False, who="nobody", wire=None):
        """Any bytes on a connection of their own, and so many answers."""
        own = wire or self.connect(self.clients[who][1])
        own.send(*pieces)
        return self.rest(title, b"".join(pieces), own, answers, head)

    def rest(self, title, sent, wire, answers=1, head=False):
        """The answers to bytes that were sent, and what becomes of the connection."""
        read = [self._read(wire, "HEAD" if head else "GET", "") for _ in range(answers)]
        last = read[-1][0]
        if last.headers.get("connection") == "close":
            read[-1][1].append("(the connection is closed)" if wire.is_closed() else "(the connection stays open)")
        wire.__exit__()
        shown = [self._short(self.names.text(line)) for line in sent.decode("latin-1").split("\n")]
        shown = [re.sub(r"[^ -~]", lambda m: f"\\x{ord(m[0]):02x}", line.removesuffix("\r")) for line in shown]
        self._write(title, shown, [lines for _, lines in read])
        time.sleep(0.002)
        return last

    # What is written
    def _path(self, path):
        for epoch in self.names.numbers["cursor"]:
            path = path.replace(f"={epoch}.", f"={self.names.cursor(epoch, '')}")
        return path

    @staticmethod
    def _short(text):
        if len(text) <= 600:
            return text
        return f"{text[:80]}… ({len(text)} characters, SHA-256 {hashlib.sha256(text.encode()).hexdigest()[:16]})"

    def _read(self, wire, method, path):
        """(the answer, its lines)"""
        status_line = wire.reader.readline().decode("latin-1")
        assert status_line.endswith("\r\n"), status_line
        fields = []
        while (line := wire.reader.readline()) != b"\r\n":
            assert line.endswith(b"\r\n"), line
            fields.append(line[:-2].decode("latin-1"))
        status = int(status_line.split(" ")[1])
        headers = {name.lower(): value for name, _, value in (f.partition(": ") for f in fields)}
        size = int(headers.get("content-length", 0))
        body = b"" if method == "HEAD" or status in (204, 304) else wire.reader.read(size)
        answer = Answer(status, headers, body)

        request_id = headers.get("x-request-id", "")
        if re.fullmatch(UUID, request_id):
            self.names.known[request_id] = "{request}"
        shown, sized = self._body(body, headers)
        if sized and method != "HEAD":
            self.sized.add(path)
        fields = [self.names.field(f) for f in fields]
        if sized or (method == "HEAD" and path in self.sized):
            fields = [re.sub(r"^Content-Length: \d+$", "Content-Length: {size}", f) for f in fields]
        self.names.known.pop(request_id, None)
        return answer, [status_line.rstrip("\r\n"), *fields, *(["", *shown] if body else [])]

    def _body(self, body, headers):
        """(the lines of the body, whether its length may differ in another run)"""
        packed = headers.get("content-encoding") == "gzip"
        if packed:
            body = gzip.decompress(body)
        if body in self.sources:
            return [f"{{the bytes of {self.sources[body]}}}"], packed
        text, sized = self.names.body(body.decode("utf-8", "backslashreplace"))
        if headers.get("content-type", "").startswith("text/plain; version="):
            return re.sub(r"(?m)^([^#].*) \S+$", r"\1 {value}", text).split("\n"), True
        if len(text) > SHOWN_MAX:
            return [f"{{{len(text)} characters, SHA-256 {hashlib.sha256(text.encode()).hexdigest()}}}"], sized or packed
        return lines_of(text), sized or packed

    def _write(self, title, shown, answers):
        assert title not in self.titles, f"two requests are called {title!r}"
        self.titles.add(title)
        self.text += ["", f"== {title}", *(f"> {line}".rstrip() for line in shown)]
        for number, lines in enumerate(answers):
            self.text += self._compared(title if number == 0 else f"{title} ({number + 1})", lines)

    def _compared(self, title, lines):
        """The answer, or how it differs from an earlier one that is shown whole."""
        counted = collections.Counter(lines)
        alike = max((w for w in self.whole if w[1][0] == lines[0]), default=None,
                    key=lambda w: (counted & w[2]).total() * 2 - w[2].total())
        if alike:
            changed = []
            for kind, a, b, c, d in difflib.SequenceMatcher(None, alike[1], lines, autojunk=False).get_opcodes():
                if kind != "equal":
                    where = f"{a + 1}" if b - a == d - c else f"{a + 1} before" if kind == "insert" else f"{a + 1}-{b}"
                    changed += [f"@{where}", *(f"+ {x}" for x in lines[c:d])]
            if len(changed) <= len(lines) * 0.6:
                return [f'< as "{alike[0]}"' + (", but" if changed else ""), *changed]
        self.whole.append((title, lines, counted))
        return [f"< {line}".rstrip() for line in lines]


def wait_for_an_hour_of_one_day(zone="America/Lima", day_starts_at=5):
    """Order numbers and reports begin anew with the restaurant's day: no walk may cross its start."""
    while True:
        now = datetime.datetime.now(zoneinfo.ZoneInfo(zone))
        start = now.replace(hour=day_starts_at, minute=0, second=0, microsecond=0)
        if not datetime.timedelta(0) < start - now < datetime.timedelta(minutes=2):
            return
        time.sleep(1)


@contextlib.contextmanager
def recorder(box, sources=()):
    made = Recorder(box, sources)
    try:
        yield made
    finally:
        made.close_all()
