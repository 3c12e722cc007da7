"""Trials of a server on a database in which one bit is flipped: it is asked for everything that the bit could change, and
each answer is compared with the answer for the undamaged database."""

import contextlib
import dataclasses
import json
import re
import shutil
import sqlite3
import subprocess
import time

from support.box import PATIENCE_S, RUNNER, Answer
from support.receiver import Receiver, refuses_orders
from support.quick_client import QuickClient
from support.sqlite_file import SqliteFile
from support.waiting import wait_until

# Sorted from worst to best; the outcome of a trial is the worst of its answers.
OUTCOMES = {
    "granted": "a key can do what it was not given, or one that was revoked or has expired is accepted",
    "process_ended": "the server ended, or did not start",
    "not_answered": "a request got no answer",
    "served_wrong": "status 200 with a wrong order, event or first answer",
    "invalid_json": "status 200 with a body that is no JSON",
    "missing_row_silently": "an order or event is missing without a word",
    "write_after_damage_wrong": "a change of a damaged order was accepted, and the order is wrong",
    "not_found": "the bytes mean something else, and nothing noticed",
    "report_wrong": "a wrong sum, found by something else",
    "misplaced": "a list has an order, whole and right, in another place, found by something else",
    "first_answer_lost": "a retry gets the order as it is now, as it would after seven days, found by something else",
    "shown_as_it_is": "a name, price or text of the menu, the company or a client as the damaged row has it",
    "lost": "a change of an order was refused with 404 and changed nothing, or a webhook has another id, found by something else",
    "key_refused": "a key that is right is refused, and the log says why",
    "found_by_request": "an answer says so: 500, 503 or X-Damaged-Rows",
    "found_by_server": "every answer is right; the log or /readyz says so",
    "found_by_verify": "comanda verify says so, nothing else does",
    "no_effect": "the bytes mean the same",
}
WRONG = list(OUTCOMES)[:8]
LISTS = ("/v1/orders?per_page=100&page={page}", "/v1/orders?per_page=100&sort=-updated_at&page={page}",
         "/v1/orders?per_page=100&sort=total&filter[include]=none&page={page}",
         "/v1/orders?per_page=100&filter[status]=PENDING,PREPARING,READY&page={page}",
         "/v1/orders?per_page=100&filter[paid]=true&filter[include]=payments&page={page}")
REST = ("/v1/menu", "/v1/company", "/v1/company/payment-methods", "/v1/company/tables", "/v1/users?per_page=100",
        "/v1/clients?per_page=100", "/v1/clients?per_page=100&sort=-name", "/v1/clients?filter[search]=ana")
# The fields that the changes of a trial may alter; the rest of an order is the same whichever were accepted.
MOVED = {"version", "comment", "status", "status_history", "preparing_at", "ready_at", "updated_at"}
# The columns of rows of items that may be NULL and then follow from price and quantity.
DERIVED = {"unit_quantity", "unit_price", "original_unit_price", "variant_unit_price", "variant_original_unit_price"}
DAMAGE_FOUND, UNREADABLE = 1, 70  # exit codes of `comanda verify`
LOST = (OSError, ValueError)  # the connection was reset, or the answer was truncated
# Those of the machine are no damage: its clock, and its name, for which nobody may answer.
WARNING = re.compile(r"^<[0-4]>(?!clock|the name of the box)", re.M)
DAMAGED = re.compile(r"\d damaged|(is|are) damaged|damaged:")
INSTANT = re.compile(rb'"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"')
# Counters that were made again have another epoch: what clients keep is refused once.
CURSOR = re.compile(rb'"(cursor|next)":"\w+\.')
AFTER = re.compile(r"after=\w+\.")
REQUEST_ID = re.compile(rb'"request_id":"[^"]*"')


@dataclasses.dataclass
class Flip:
    region: object  # support.sqlite_file.Region
    byte: int
    bit: int
    guest: object  # the guest of the order that is requested

    def __str__(self):
        return f"{self.region.owner or 'a free page'}, {self.region.part}, byte {self.byte} bit {self.bit}, " \
               f"order {self.guest.record['id']}"


@dataclasses.dataclass
class Found:
    """What one trial saw: (kind of outcome, the request, its answer)."""
    signs: list = dataclasses.field(default_factory=list)
    # Set when a change is refused: the changes after it then apply to another version than in the reference run.
    was_refused: bool = False
    answers: int = 0
    failures: int = 0  # of them 5xx
    was_served_early: bool = False  # before all of the file had been looked at
    takes_no_writes: bool = False  # because a page of it is malformed, which /readyz says

    def add(self, kind, question, answer=""):
        self.signs.append((kind, question, str(answer)[:2000]))

    def is_noticed(self):
        return bool({"found_by_request", "found_by_server", "found_by_verify"} & {kind for kind, *_ in self.signs})

    def outcome(self):
        return min((kind for kind, *_ in self.signs), key=list(OUTCOMES).index, default="no_effect")


class Asker:
    """Sends the requests to a running server, and passes each answer to `note(kind, question, answer)`."""

    def __init__(self, box, key, note):
        self.client, self.key, self.note = QuickClient(box), key, note
        self.has_lost = False

    def ask(self, kind, method, path, body=None, idempotency_key=None):
        question = f"{method} {path}" if method == "GET" else f"{method} {path} {body} {idempotency_key or ''}"
        try:
            answer = self.client.send(self.key, method, path, body, idempotency_key)
        except LOST as error:
            self.client.close()
            answer = error
        return self.note(kind, AFTER.sub("after=.", question), answer)

    def read_everything(self, pages, days):
        for form in LISTS:
            for page in range(1, pages + 1):
                self.ask("list", "GET", form.format(page=page))
        since, until = days
        for name in ("by-payment-methods", "by-tips", "products-sold", "products-sold?filter[include]=products_modifiers",
                     "products-sold?filter[include]=freehand"):
            sign = "&" if "?" in name else "?"
            self.ask("report", "GET", f"/v1/orders/{name}{sign}filter[start_date]={since}&filter[end_date]={until}&per_page=100")
        path = "/v1/events?per_page=100"
        while path:
            answer = self.ask("list", "GET", path)
            has_more = answer and not answer.body.startswith(b'{"data":[],')
            path = f"/v1/events?per_page=100&after={answer.json['next']}" if has_more else None

    def read_the_rest(self, paths):
        for path in paths:
            self.ask("rest", "GET", path)

    def read_one(self, guest):
        self.ask("order", "GET", "/v1/orders/" + guest.record["id"])
        self.ask("order", "GET", "/v1/orders/" + guest.record["public_id"])
        self.ask("list", "GET", "/v1/orders?filter[reference]=" + guest.creation.key)
        for sent in filter(None, (guest.creation, guest.last)):
            self.ask("replay", "POST", sent.path, sent.body, sent.key)

    def change(self, guest):
        path = "/v1/orders/" + guest.record["id"]
        for number, (below, body) in enumerate([
                ("", '{"comment":"con limón"}'), ("/status", '{"status":"READY"}'),
                ("", '{"comment":"y sal"}'), ("/status", '{"status":"READY"}')]):
            self.ask("change", "PATCH", path + below, body, f"change-{number}-{guest.record['id']}")
        self.ask("after", "GET", path)


class Laboratory:
    """An undamaged database with the reference answers to all requests. Stops `box`."""

    def __init__(self, week):
        self.box, self.guests, self.key = week.box, week.guests, week.key
        self.make_weak_keys()
        self.rest = [*REST, *self.make_webhook()]
        self.file = SqliteFile(self.path, [guest.record["id"] for guest in self.guests])
        self.by_id = {guest.record["id"]: guest for guest in self.guests}
        self.has_verify = self.box.command("verify", "--help", check=False).returncode == 0
        self.content = content(self.path)
        # Later timestamps were assigned during the trials.
        self.newest = query(self.path, "SELECT max(at) AS at FROM event")[0]["at"]
        self.newest_text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(self.newest // 1000)) + \
            f".{self.newest % 1000:03}Z"
        self.pages = -(-len(self.guests) // 100)
        self.days = [time.strftime("%Y-%m-%d", time.gmtime(self.newest // 1000 + days * 86400)) for days in (-200, 2)]
        self.served = (self.box.data / "served").read_bytes()
        self.truth = {}
        self.learn()

    @property
    def path(self):
        return self.box.data / "live.db"

    def learn(self):
        def remember(kind, question, answer):
            assert not isinstance(answer, Exception), (question, answer)
            assert answer.status < 500, (question, answer)
            self.truth[kind, question] = answer
            return answer if answer.status == 200 else None

        with self.server(self.file.data):
            asker = Asker(self.box, self.key, remember)
            asker.read_everything(self.pages, self.days)
            asker.read_the_rest(self.rest)
            for guest in self.guests:
                asker.read_one(guest)
            for guest in self.guests:
                asker.change(guest)
            self.ready = self.readiness(asker.client)
        assert not self.warnings(), f"damage where there is none: {self.warnings()}"

    def make_weak_keys(self):
        """Keys that may do little or nothing: their rows must not come to say more."""
        self.reader = self.box.make_key(scopes="orders:read", name="reader")["key"]
        revoked = self.box.make_key(name="revoked")
        self.box.command("keys", "revoke", revoked["id"], "--data", str(self.box.data))
        expired = self.box.command("keys", "create", "--data", str(self.box.data), "--name", "expired", "--scopes", "all",
                                   "--expires-at", "2020-01-01T00:00:00Z", "--json", check=False)
        self.ended = [revoked["key"]] + ([json.loads(expired.stdout)["key"]] if expired.returncode == 0 else [])

    def make_webhook(self):
        """One that is paused, with messages that were delivered, that are late and that wait. The paths that show them."""
        refused = set()
        with Receiver(refuses_orders(refused)) as receiver:
            self.box.start()
            api = self.box.client(self.key)
            path = "/v1/webhooks/" + api.post("/v1/webhooks", {"webhook_url": receiver.url}).data["id"]
            for number in range(4):
                order = api.place()
                if number % 2:
                    refused.add(order["id"])
                    for word in ("refused", "waits"):
                        api.patch("/v1/orders/" + order["id"], {"comment": word})
            states = lambda: {row["state"] for row in api.get(path + "/deliveries").data}
            wait_until(lambda: states() >= {"delivered", "late", "waiting"}, states)
            assert api.patch(path, {"is_active": False}).status == 200
            assert self.box.stop() == 0
        return ["/v1/webhooks", path, path + "/deliveries?per_page=100", path + "/deliveries?filter[state]=late,waiting"]

    def try_weak_keys(self, found, client):
        for key, method, path in [(self.reader, "GET", "/v1/clients?per_page=1"), (self.reader, "GET", "/v1/menu"),
                                  (self.reader, "GET", "/auth/api-keys"), (self.reader, "POST", "/v1/orders")] + \
                [(key, "GET", "/v1/orders?per_page=1") for key in self.ended]:
            with contextlib.suppress(*LOST):
                answer = client.send(key, method, path, "{}" if method == "POST" else None, "weak" if method == "POST" else None)
                if answer.status not in (401, 403, 429) and answer.status < 500:
                    found.add("granted", f"{method} {path}", answer.status)

    def plain(self, body):
        """Removes what differs from run to run."""
        def time_or_now(match):
            text = match[0][1:-1].decode()
            return b'"NOW"' if text > self.newest_text else match[0]

        body = CURSOR.sub(rb'"\1":"', body)
        return REQUEST_ID.sub(b'"request_id":""', INSTANT.sub(time_or_now, body))

    def put(self, data):
        """Restores the database and removes what an earlier server left. Keeps the inode: to the server another file would be a
        restored copy."""
        for file in self.box.data.glob("live.db?*"):
            shutil.rmtree(file) if file.is_dir() else file.unlink()
        self.path.write_bytes(data)
        (self.box.data / "served").write_bytes(self.served)
        self.box.log_path.write_bytes(b"")

    @contextlib.contextmanager
    def server(self, data):
        self.put(data)
        self.box.launch()
        try:
            self.wait()
            yield
        finally:
            self.box.kill_if_running()

    def wait(self):
        """Until it answers, or has ended."""
        def answers():
            with contextlib.suppress(OSError), contextlib.closing(QuickClient(self.box)) as client:
                return client.send("", "GET", "/healthz")

        wait_until(lambda: self.box.process.poll() is not None or answers(), self.box.log_text)

    def warnings(self):
        return [line for line in self.box.log_text().splitlines() if WARNING.match(line)]

    @staticmethod
    def readiness(client):
        with contextlib.suppress(*LOST):
            checks = client.send("", "GET", "/readyz").json["checks"]
            return {name: (check["ok"], bool(DAMAGED.search(check["state"]))) for name, check in checks.items()}

    # One flip.
    def choose(self, dice, regions):
        """A random bit; every byte of the regions is equally likely."""
        region = dice.choices(regions, [r.length for r in regions])[0]
        guest = self.by_id.get(region.order_id) or dice.choice(self.guests)
        return Flip(region, region.offset + dice.randrange(region.length), dice.randrange(8), guest)

    def try_out(self, flip):
        data = bytearray(self.file.data)
        data[flip.byte] ^= 1 << flip.bit
        found = Found()
        self.verify(found, data)
        with self.server(data):
            asker = Asker(self.box, self.key, lambda *words: self.judge(found, *words))
            if self.box.process.poll() is None:
                asker.read_one(flip.guest)
                asker.read_everything(self.pages, self.days)
                asker.read_the_rest(self.rest)
                asker.change(flip.guest)
                self.try_weak_keys(found, asker.client)
                if (readiness := self.readiness(asker.client)) != self.ready:
                    found.add("found_by_server", "/readyz")
                    found.takes_no_writes = bool(readiness) and not readiness["database"][0]
            asker.client.close()
            if (code := self.exit_code(found)) is not None:
                found.add("process_ended", f"exit code {code}", self.box.log_text()[-1500:])
        found.was_served_early = "is checked while it is served" in self.box.log_text()
        if warnings := self.warnings():
            found.add("found_by_server", "log", warnings)
        if found.outcome() in ("no_effect", "report_wrong", "misplaced", "first_answer_lost", "shown_as_it_is", "lost") and not \
                found.is_noticed():
            self.put(data)
            if other := first_other_row(self.content, content(self.path)):
                found.add("not_found", "the tables have other rows", other)
        return found

    def exit_code(self, found):
        """None if the server keeps serving. A server that exits closes its connections slightly before."""
        if any(kind == "not_answered" for kind, *_ in found.signs):
            with contextlib.suppress(subprocess.TimeoutExpired):
                return self.box.process.wait(1)
        return self.box.process.poll()

    def verify(self, found, data):
        """The result of `comanda verify` on the file."""
        if not self.has_verify:
            return
        self.put(data)
        result = subprocess.run([*RUNNER, str(self.box.binary), "verify", "--data", str(self.box.data), "--json"],
                                capture_output=True, timeout=PATIENCE_S * 4)
        if result.returncode == 0:
            return
        if result.returncode not in (DAMAGE_FOUND, UNREADABLE):
            found.add("process_ended", "verify", result)
        found.add("found_by_verify", "verify", result.stdout)
        if result.returncode == DAMAGE_FOUND and not is_json(result.stdout):
            found.add("invalid_json", "verify", result.stdout)

    def judge(self, found, kind, question, answer):
        """The answer, where more may be asked from it."""
        if isinstance(answer, Exception):
            found.add("not_answered", question, answer)
            return None
        found.answers += 1
        found.failures += answer.status >= 500
        if answer.status in (401, 429) and any("API key" in line for line in self.warnings()):
            found.add("key_refused", question, answer.code)
            return None
        true = self.truth.get((kind, question), Answer(0, {}, b""))
        if (answer.status, answer.body) == (true.status, true.body):
            return answer if answer.status == 200 else None
        if answer.status >= 500:
            found.add("found_by_request", question, answer.code)
            found.was_refused |= kind == "change"
            return None
        if answer.status == 404 and kind == "change":
            # An index that was made again leads to an order by the id that it has now.
            found.add("lost", question, answer.code)
            found.was_refused = True
            return None
        plain, status, body = self.plain(answer.body), true.status, self.plain(true.body)
        if found.was_refused and kind in ("change", "after") and unmoved(plain) == unmoved(body):
            return answer
        if (answer.status, plain) == (status, body):
            return answer if answer.status == 200 else None
        found.add(self.wrong(kind, question, answer, plain, status, body), question, difference(answer.status, plain, status, body))
        return answer if answer.status == 200 and kind == "list" and is_json(answer.body) else None

    def listed(self, question):
        """The rows of all pages of that list."""
        form = question.partition("&page=")[0]
        pages = [self.plain(answer.body) for (_, other), answer in self.truth.items() if other.partition("&page=")[0] == form]
        return [row for page in pages for row in json.loads(page)["data"]]

    def wrong(self, kind, question, answer, plain, status, body):
        if kind == "report":
            return "report_wrong"
        if kind == "rest" and "x-damaged-rows" in answer.headers:
            return "found_by_request"
        if kind == "rest" and answer.status == 404:
            return "lost"
        if kind == "rest" and is_json(plain):
            return "shown_as_it_is"
        if kind in ("change", "after"):
            return "write_after_damage_wrong"
        if answer.status == 200 and not is_json(plain):
            return "invalid_json"
        if answer.status in (404, 410):
            return "missing_row_silently"
        if kind == "replay" and (status, answer.status) == (201, 200):
            order = self.truth.get(("order", "GET /v1/orders/" + json.loads(plain)["data"]["id"]))
            return "first_answer_lost" if order and self.plain(order.body) == plain else "served_wrong"
        if kind == "list" and status == answer.status == 200:
            page, true_page = json.loads(plain), json.loads(body)
            rows, true_rows = page.pop("data"), true_page.pop("data")
            left_out = len(true_rows) - len(rows)
            if page == true_page and is_part(rows, true_rows):
                return "found_by_request" if answer.headers.get("x-damaged-rows") == str(left_out) else "missing_row_silently"
            if page == true_page and left_out == 0 and all(row in self.listed(question) for row in rows):
                return "misplaced"
        return "served_wrong"


def difference(status, body, true_status, true_body):
    """The first difference between two answers."""
    at = next((n for n, (a, b) in enumerate(zip(body, true_body)) if a != b), min(len(body), len(true_body)))
    near = slice(max(0, at - 60), at + 60)
    return f"{status} …{body[near]}… instead of {true_status} …{true_body[near]}…"


def unmoved(body):
    """The part of an order that the changes of a trial do not alter; all of any other body."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        return {name: value for name, value in json.loads(body)["data"].items() if name not in MOVED}
    return body


def is_json(body):
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


def is_part(rows, of):
    """Some of those rows, in their order."""
    rest = iter(of)
    return all(any(row == other for other in rest) for row in rows)


def first_other_row(was, now):
    """What differs between two results of content(), if anything that is read."""
    if isinstance(now, str):
        return now
    for name, rows in was.items():
        if len(rows) != len(now[name]):
            return f"{name} has {len(now[name])} rows instead of {len(rows)}"
        for old, new in zip(rows, now[name]):
            # No unit price, as older programs stored none: it is derived, and the checksum says that it is the same.
            unread = {column for column in DERIVED if column in new and new[column] is None}
            if name == "event" and old["seq"] < was["company_counter"][0]["log_start"]:
                unread.add("chain")  # such a row only holds a record
            if any(old[column] != new[column] for column in old if column not in unread):
                return f"{name}: {old} is now {new}"
    return None


def query(path, statement):
    with contextlib.closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as db:
        db.text_factory, db.row_factory = bytes, sqlite3.Row
        return [dict(row) for row in db.execute(statement)]


def content(path):
    """The rows of each table as SQLite reads them, and the result of its integrity check; its error where it cannot. Without
    the planner's statistics: whatever they are, answers are the same."""
    try:
        tables = [row["name"].decode() for row in query(path, "SELECT name FROM sqlite_schema WHERE type = 'table' "
                                                           "AND name <> 'sqlite_stat1' ORDER BY name")]
        return {table: query(path, f"SELECT * FROM {table} NOT INDEXED") for table in tables} | \
            {"integrity check": query(path, "PRAGMA integrity_check")}
    except sqlite3.Error as error:
        return str(error)
