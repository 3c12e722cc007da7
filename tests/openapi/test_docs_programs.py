"""The programs of the page /docs in languages other than curl (tests/api/test_docs_commands.py): each is compiled, run in a
fresh sandbox and gets the answer that the document promises; and the walks, in curl too, do what they say. Of C# and Dart,
for which the registries have no SDK, each call is read."""

import base64
import contextlib
import hmac
import http.client
import json
import os
import re
import subprocess
import threading
import time
import uuid

import pytest

from support import pairing
from support.box import PATIENCE_S, free_port
from support.docs_programs import programs, promised
from support.openapi import breaches
from support.orders import accepted
from support.receiver import Receiver
from support.waiting import wait_until

# Between the outputs of programs that run in one process.
SEPARATOR = "\x1e"
# Where the programs listen that receive webhooks.
PORT = "8099"
WALKS = ["first-order", "display", "erp", "menu-upload"]

JAVASCRIPT = r"""
import {readFileSync} from 'node:fs';
for (const file of process.argv.slice(1)) {
  console.log('\x1e');
  await import('data:text/javascript,' + encodeURIComponent(readFileSync(file, 'utf8'))).catch(console.log);
}
"""
PYTHON = r"""
import pathlib, sys, traceback
for file in sys.argv[1:]:
    print("\x1e")
    try:
        exec(compile(pathlib.Path(file).read_text(), file, "exec"), {"__name__": "__main__"})
    except Exception:
        traceback.print_exc()
"""
PHP = r"""
foreach (array_slice($argv, 1) as $file) {
    echo "\x1e\n";
    passthru(PHP_BINARY . " " . escapeshellarg($file));
}
"""
KOTLIN_MAIN = "fun main(args: Array<String>) {{\n    for (name in args) {{\n        println('\\u001e')\n        when (name) {{\n{rows}\n        }}\n    }}\n}}\n"
GO_MAIN = """package main

import (
{imports}
)

func main() {{
\tfor _, name := range os.Args[1:] {{
\t\tfmt.Println("\\x1e")
\t\tswitch name {{
{rows}
\t\t}}
\t}}
}}
"""


class Language:
    """Programs as files, and how they are run."""

    def __init__(self, folder, rows, ending):
        self.files = [folder / f"p{i}{ending}" for i in range(len(rows))]
        for file, (_, _, program) in zip(self.files, rows):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(program + "\n")


    def receiver(self, index, port):
        return self.command(index)


class Curl(Language):
    def __init__(self, tools, folder, rows):
        super().__init__(folder, rows, ".sh")

    def command(self, *indices):
        (index,) = indices
        return ["sh", "-ec", 'curl() { command curl -sS --fail-with-body "$@"; }\n' + self.files[index].read_text()]


class JavaScript(Language):
    def __init__(self, tools, folder, rows):
        super().__init__(folder, rows, ".mjs")

    def command(self, *indices):
        return ["node", "--input-type=module", "-e", JAVASCRIPT, *[self.files[i] for i in indices]]


class Python(Language):
    def __init__(self, tools, folder, rows):
        super().__init__(folder, rows, ".py")
        self.python = tools.python / "bin/python"

    def command(self, *indices):
        return [self.python, "-uc", PYTHON, *[self.files[i] for i in indices]]


class Php(Language):
    """In a process each: all of them declare call()."""

    def __init__(self, tools, folder, rows):
        super().__init__(folder, rows, ".php")

    def command(self, *indices):
        return ["php", "-r", PHP, "--", *[self.files[i] for i in indices]]

    def receiver(self, index, port):
        return ["php", "-S", f"127.0.0.1:{port}", self.files[index]]


class Kotlin(Language):
    """In a package each, compiled together."""

    def __init__(self, tools, folder, rows):
        super().__init__(folder / "src", [(*row[:2], f"package p{i}\n" + row[2]) for i, row in enumerate(rows)], ".kt")
        calls = "\n".join(f'            "{i}" -> p{i}.main()' for i in range(len(rows)))
        (folder / "src/Main.kt").write_text(KOTLIN_MAIN.format(rows=calls))
        (folder / "pom.xml").write_text((tools.clients / "kotlin/pom.xml").read_text())
        self.classes = f"{folder / 'target/classes'}:{tools.maven(folder)}"
        self.java = tools.java_with_trust(folder)

    def command(self, *indices):
        return [*self.java, "-cp", self.classes, "MainKt", *map(str, indices)]


class Go(Language):
    """As a package each of one program."""

    def __init__(self, tools, folder, rows):
        changed = [row[2].replace("package main", f"package p{i}").replace("func main()", "func Main()")
                   for i, row in enumerate(rows)]
        for i, program in enumerate(changed):
            (folder / f"p{i}").mkdir(parents=True)
            (folder / f"p{i}/p.go").write_text(program + "\n")
        imports = "\n".join(['\t"fmt"', '\t"os"', *[f'\t"programs/p{i}"' for i in range(len(rows))]])
        calls = "\n".join(f'\t\tcase "{i}":\n\t\t\tp{i}.Main()' for i in range(len(rows)))
        (folder / "main.go").write_text(GO_MAIN.format(imports=imports, rows=calls))
        (folder / "go.mod").write_text("module programs\n\ngo 1.19\n")
        self.program = folder / "programs"
        for words in (["vet", "./..."], ["build", "-o", self.program, "."]):
            result = tools.run("go", *words, cwd=folder)
            assert result.returncode == 0, result.stdout[-5000:]
        unformatted = tools.run("gofmt", "-l", *[folder / f"p{i}" for i in range(len(rows))])
        assert unformatted.stdout == "", unformatted.stdout

    def command(self, *indices):
        return [self.program, *map(str, indices)]


LANGUAGES = {"curl": Curl, "javascript": JavaScript, "python": Python, "kotlin": Kotlin, "go": Go, "php": Php}


@pytest.fixture(scope="module")
def written(docs_box):
    return programs(docs_box.sandbox_url)


@pytest.fixture(scope="module")
def made(tools, written, docs_box, tmp_path_factory):
    """{language: its programs}, filled when they are first asked for."""
    tools.cafile = docs_box.cafile
    return {}


@pytest.fixture
def language(request, made, tools, written, docs_box, tmp_path_factory):
    """One of LANGUAGES, in a sandbox that is as new."""
    name = request.param
    if name not in made:
        code = pairing.read(pairing.make_uri(docs_box, "--env", "test"))["c"]
        port = free_port()
        rows = [(*row[:2], row[2].replace("0000000000000000000000", code).replace(PORT, str(port))) for row in written[name]]
        made[name] = LANGUAGES[name](tools, tmp_path_factory.mktemp(name), rows)
        made[name].port = port
        made[name].rows, made[name].calls = rows, [calls for _, _, calls in written["calls"]]
    with sandbox_client(docs_box) as client:
        assert client.post("/sandbox/reset", {}).status == 200
    return made[name]


@contextlib.contextmanager
def sandbox_client(box):
    with contextlib.closing(box.client(box.sandbox_key)) as client:
        client.port = box.sandbox_port
        yield client


def environment(box):
    return {**os.environ, "COMANDA_CA": str(box.cafile), "COMANDA_KEY": box.sandbox_key, "NODE_EXTRA_CA_CERTS": str(box.cafile),
            "SSL_CERT_FILE": str(box.cafile), "no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}


def mistake(output, calls, operation):
    """What is wrong with the output of a program that has made those calls; none where nothing is."""
    answers = list(re.finditer(r"^(\d{3}) ", output, re.MULTILINE))
    if len(answers) < len(calls) or any(not answer[1].startswith("2") for answer in answers[:len(calls)]):
        return output[:1500]
    schema = promised(operation)
    return (breaches(schema, json.loads(output[answers[-1].end():])) if schema else None) or None


def needs_a_device(operation, example):
    """One that asks to be let in meanwhile: api/test_docs_commands.py has it beside curl. The others are compiled alone."""
    return operation.id in ("askToBeLetIn", "acceptDevice", "refuseDevice", "shutDeviceOut") or (operation.id == "pair" and "request" in example)


@pytest.mark.parametrize("language", ["javascript", "python", "kotlin", "go", "php"], indirect=True)
def test_each_program_gets_the_answer_that_the_document_promises(language, docs_box):
    ours = [i for i, (operation, example, _) in enumerate(language.rows)
            if example is not None and not needs_a_device(operation, example)]
    result = subprocess.run(list(map(str, language.command(*ours))), env=environment(docs_box), capture_output=True, text=True,
                            timeout=PATIENCE_S * 10)
    outputs = result.stdout.split(SEPARATOR)[1:]
    assert len(outputs) == len(ours) > 60, (result.stdout[-1000:], result.stderr[-3000:])
    wrong = []
    for i, output in zip(ours, outputs):
        found = mistake(output, language.calls[i], language.rows[i][0])
        if found:
            wrong.append((language.rows[i][0].id, language.rows[i][1], found))
    assert wrong == [], result.stderr[-3000:]


DESSERT = {"product_name": "Suspiro de la casa", "quantity": 1, "variant_price": 15}
NEXT = '"next":'


def run_walk(language, box, name, folder, interrupt=None, after=""):
    """What the walk prints. Once that has a match of `after`, interrupt() is called while the walk goes on."""
    index = next(i for i, row in enumerate(language.rows) if row[0] == name)
    with subprocess.Popen(list(map(str, language.command(index))), env=environment(box), cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        guard = threading.Timer(PATIENCE_S * 4, process.kill)
        guard.start()
        output = b""
        while read := os.read(process.stdout.fileno(), 1 << 16):
            output += read
            if interrupt and re.search(after.encode(), output):
                interrupt()
                interrupt = None
        guard.cancel()
    assert process.returncode == 0 and interrupt is None, output[-4000:]
    return output.decode()


def clear_the_kitchen(till):
    """So that no station is unwatched, which would end a display's poll early."""
    while waiting := till.get("/v1/kitchen/tickets?filter[state]=later,open&per_page=100").data:
        for ticket in waiting:
            assert till.post(f"/v1/kitchen/tickets/{ticket['order_id']}/out", {}).status == 200


@pytest.mark.parametrize("language", LANGUAGES, indirect=True)
def test_the_walks_do_what_they_say(language, docs_box, tmp_path):
    with sandbox_client(docs_box) as till:
        clear_the_kitchen(till)
        run_walk(language, docs_box, "first-order", tmp_path)
        reference = language.calls[[row[0] for row in language.rows].index("first-order")][0]["headers"]["Idempotency-Key"][0]
        (order,) = till.get(f"/v1/orders?filter[reference]={uuid.UUID(reference)}").data
        assert (order["status"], order["paid"], order["total"], order["payments"][0]["change_amount"]) == ("PREPARING", True, 85, 15)

        till.advance(order, "READY")
        placed = [till.place()]
        output = run_walk(language, docs_box, "display", tmp_path, lambda: till.add(placed[0], DESSERT), NEXT)
        assert output.rindex(placed[0]["public_id"]) > output.index(NEXT) > output.index(order["public_id"])

        # A dessert that is ordered when the table was served is on the display, too.
        till.advance(order, "DELIVERED")
        output = run_walk(language, docs_box, "display", tmp_path, lambda: till.add(order, DESSERT), NEXT)
        assert output.index(order["public_id"]) > output.index(NEXT) and output.rindex(DESSERT["product_name"]) > output.index(NEXT)

        older = [till.place()["public_id"] for _ in range(230)]
        output = run_walk(language, docs_box, "erp", tmp_path, lambda: placed.append(till.place()), NEXT)
        read = output[:output.index(NEXT)]
        assert {public_id for public_id in older if public_id not in read} == set()
        assert output.rindex(placed[1]["public_id"]) > output.rindex("ORDER_CREATED") > output.index(NEXT)

        output = run_walk(language, docs_box, "menu-upload", tmp_path)
        counts = re.findall(r'"created":(\d+),"updated":(\d+),"unchanged":(\d+)', output)
        assert counts == [("2", "0", "0"), ("0", "1", "0"), ("0", "0", "1")]
        assert output.rindex("Chicha morada, 1 litro") > output.rindex('"unchanged":1')


def signed(secret, at=None, other=None, body=b'{"event_type": "ORDER_CREATED"}'):
    """(headers, body) as the box signs them; `other`: a second secret, as while they rotate."""
    at = str(at or int(time.time()))
    macs = [hmac.digest(base64.b64decode(each.removeprefix("whsec_")), f"id-1.{at}.".encode() + body, "sha256")
            for each in (other, secret) if each]
    return {"webhook-id": "id-1", "webhook-timestamp": at,
            "webhook-signature": " ".join("v1," + base64.b64encode(mac).decode() for mac in macs)}, body


def messages(secret):
    """{what: (whether it is genuine, headers, body)}"""
    headers, body = signed(secret)
    foreign = "whsec_" + base64.b64encode(b"x" * 32).decode()
    now = int(time.time())
    return {
        "signed": (True, headers, body), "rotating": (True, *signed(secret, other=foreign)),
        "four minutes old": (True, *signed(secret, now - 240)), "of another": (False, *signed(foreign)),
        "changed": (False, headers, body.replace(b"CREATED", b"CREATEF")),
        "another id": (False, {**headers, "webhook-id": "id-2"}, body),
        "six minutes old": (False, *signed(secret, now - 360)), "of the future": (False, *signed(secret, now + 360)),
        "another time": (False, {**headers, "webhook-timestamp": str(now - 1)}, body),
        "cut": (False, {**headers, "webhook-signature": headers["webhook-signature"][:-4]}, body),
        "without a signature": (False, {**headers, "webhook-signature": ""}, body),
        "without a time": (False, {**headers, "webhook-timestamp": ""}, body),
        "no headers": (False, {}, body),
    }


@pytest.mark.parametrize("language", [name for name in LANGUAGES if name != "curl"], indirect=True)
def test_the_receivers_take_what_the_box_has_signed_and_nothing_else(language, docs_box, tmp_path):
    index = next(i for i, row in enumerate(language.rows) if row[0] == "webhooks")
    with sandbox_client(docs_box) as api, (tmp_path / "output").open("w+b") as output:
        hook = accepted(api.post("/v1/webhooks", {"webhook_url": f"http://127.0.0.1:{language.port}/comanda"}), 201)
        process = subprocess.Popen(list(map(str, language.receiver(index, language.port))), stdout=output, stderr=output,
                                   env={**environment(docs_box), "COMANDA_WEBHOOK_SECRET": hook["secret"], "PYTHONUNBUFFERED": "1"})
        try:
            def post(headers, body):
                with contextlib.closing(http.client.HTTPConnection("127.0.0.1", language.port, timeout=PATIENCE_S)) as line:
                    line.request("POST", "/comanda", body, headers)
                    return line.getresponse().status

            def printed():
                return (tmp_path / "output").read_text()

            def is_up():
                with contextlib.suppress(OSError):
                    return post({}, b"{}") == 400
            wait_until(is_up, printed)
            assert api.post(f"/v1/webhooks/{hook['id']}/test", {}).data["attempts"][-1]["outcome"] == "acknowledged"
            order = api.place(comment="sin ají, ñ \U0001f41f")
            wait_until(lambda: order["id"] in printed(), printed)
            assert "WEBHOOK_TEST" in printed() and "\U0001f41f" in printed()
            before = printed().count("id-")
            judged = messages(hook["secret"])
            assert {what: post(headers, body) for what, (_, headers, body) in judged.items()} == \
                {what: 204 if genuine else 400 for what, (genuine, _, _) in judged.items()}, printed()
            wait_until(lambda: printed().count("id-1") == 3, printed)
            assert printed().count("id-") == before + 3
        finally:
            process.kill()
            process.wait(PATIENCE_S)


@pytest.mark.parametrize("language", ["curl"], indirect=True)
def test_the_shell_says_which_message_is_genuine(language, docs_box, tmp_path):
    index = next(i for i, row in enumerate(language.rows) if row[0] == "webhooks")
    with sandbox_client(docs_box) as api, Receiver() as receiver:
        hook = accepted(api.post("/v1/webhooks", {"webhook_url": receiver.url}), 201)
        api.place(comment="sin ají, ñ \U0001f41f")
        (delivered, *_) = receiver.wait_for(1)

    def run(headers, body):
        (tmp_path / "body.json").write_bytes(body)
        sent = {name.replace("-", "_").upper(): headers.get(name, "") for name in
                ("webhook-id", "webhook-timestamp", "webhook-signature")}
        return subprocess.run(language.command(index), cwd=tmp_path, capture_output=True, text=True,
                              env={**os.environ, **sent, "COMANDA_WEBHOOK_SECRET": hook["secret"]}).stdout
    assert run(delivered.headers, delivered.body) == "genuine: answer 204\n"
    for what, (genuine, headers, body) in messages(hook["secret"]).items():
        assert (run(headers, body) == "genuine: answer 204\n") == genuine, what


def csharp_calls(program):
    """[(method, path, body, headers)] of a program in C#, as a compiler would read its literals. Parts that are filled in
    are "{}"."""
    text = lambda literal: re.sub(r"\{\w+\}", "{}", json.loads(literal.removeprefix("$")))
    found = []
    call = r'await Call\(("\w+"), (\$?"(?:[^"\\]|\\.)*"), (null|"""\n.*?\n    """)((?:, \("[\w-]+", \$?"(?:[^"\\]|\\.)*"\))*)\);'
    for method, path, body, headers in re.findall(call, program, re.DOTALL):
        sent = {json.loads(name): text(value) for name, value in re.findall(r'\(("[\w-]+"), (\$?"(?:[^"\\]|\\.)*")\)', headers)}
        if body != "null":
            lines = body.split("\n")[1:-1]
            assert all(line.startswith("    ") for line in lines), body  # as much as the closing quotes
            body = "\n".join(line[4:] for line in lines)
        found.append((json.loads(method), text(path), None if body == "null" else json.loads(body), sent))
    return found


def dart_calls(program):
    """The same of a program in Dart."""
    text = lambda literal: re.sub(r"\$\{\w+\}", "{}", json.loads(literal).replace("\\$", "$"))
    found = []
    call = r"""await call\(("\w+"), ("(?:[^"\\]|\\.)*"), (null|r'''\n.*?'''), \{(.*?)\}\);$"""
    for method, path, body, headers in re.findall(call, program, re.DOTALL | re.MULTILINE):
        sent = {json.loads(name): text(value) for name, value in re.findall(r'("[\w-]+"): ("(?:[^"\\]|\\.)*")', headers)}
        found.append((json.loads(method), text(path), None if body == "null" else json.loads(body[4:-3]), sent))
    return found


@pytest.mark.parametrize("language, compares", [("csharp", "CryptographicOperations.FixedTimeEquals"), ("dart", "Digest(")])
def test_the_receivers_that_cannot_be_run_judge_by_the_same(written, language, compares):
    program = next(program for name, _, program in written[language] if name == "webhooks")
    for part in ["webhook-id", "webhook-timestamp", "webhook-signature", "whsec_", "'v1,'" if language == "dart" else '"v1,"', "300",
                 "204" if language == "dart" else "NoContent", compares, PORT]:
        assert part in program, part


def sent_by(calls):
    plain = lambda pieces: "".join(piece if isinstance(piece, str) else "{}" for piece in pieces)
    return [(call["method"].upper(), plain(call["path"]), call.get("body"),
             {header: plain(value) for header, value in call["headers"].items() if header != "Authorization"}) for call in calls]


def test_the_programs_in_dart_send_what_the_others_send(written):
    for (name, example, program), (_, _, calls) in zip(written["dart"], written["calls"]):
        assert dart_calls(program) == sent_by(calls), (name, example, program)
        needs_key = any("Authorization" in call["headers"] for call in calls)
        assert ("'Bearer ${Platform.environment['COMANDA_KEY']}'" in program) == needs_key, (name, example)
        used = set(re.findall(r"\$\{(\w+)\}", program[program.index("main()"):]))
        assert all(re.search(rf"(final|var) {variable} = ", program) for variable in used), (name, example)


def test_the_programs_in_csharp_send_what_the_others_send(written):
    for (name, example, program), (_, _, calls) in zip(written["csharp"], written["calls"]):
        assert csharp_calls(program) == sent_by(calls), (name, example)
        needs_key = any("Authorization" in call["headers"] for call in calls)
        assert ('"Bearer " + Environment.GetEnvironmentVariable("COMANDA_KEY")' in program) == needs_key, (name, example)
        assert all(program.count(open_) == program.count(close) for open_, close in ("()", "{}", "[]")), (name, example)
        used = set(re.findall(r"\{(\w+)\}", "".join(re.findall(r'\$"[^"]*"', program)))) - {"text"}
        assert all(f"var {variable} = " in program for variable in used), (name, example)
