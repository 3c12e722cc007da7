"""The public libraries of Standard Webhooks verify what the box delivers, byte for byte as it arrived: `standardwebhooks` of
npm 1.1.1 (package.json) and of PyPI 1.1.0 (requirements.txt), the same as src/web/README.md shows them."""

import base64
import contextlib
import hmac
import json
import pathlib
import re
import time

import pytest

from support import documents
from support.box import Box
from support.orders import accepted
from support.receiver import LOOPBACK, Receiver

CLIENTS = pathlib.Path(__file__).parent / "clients/standard_webhooks"
WRONG = "WebhookVerificationError: No matching signature found"
OLD = "WebhookVerificationError: Message timestamp too old"


@pytest.fixture(scope="module")
def delivered():
    """Two messages as they arrived, the second during a rotation: [(secrets, request)]."""
    box = Box(options=LOOPBACK)
    try:
        box.bring_in("demo")
        key = box.make_key()["key"]
        box.start()
        with Receiver() as receiver, contextlib.closing(box.client(key)) as api:
            hook = accepted(api.post("/v1/webhooks", {"webhook_url": receiver.url}), 201)
            api.place(comment="sin ají, ñ \U0001f41f")
            receiver.wait_for(1)
            new = accepted(api.patch(f"/v1/webhooks/{hook['id']}", {"rotate_secret": True}))["secret"]
            api.place(comment="con ají, \"12.50\" \\ \u2028")
            first, second = receiver.wait_for(2)
        assert box.stop() == 0, "the server did not end cleanly"
    finally:
        box.discard()
    return [([hook["secret"]], first), ([hook["secret"], new], second)]


class Library:
    """One of the two, run with a message as JSON on standard input."""

    def __init__(self, tools, language):
        self.tools, self.language = tools, language

    def run(self, folder, program, message, env=None):
        if self.language == "node":
            env = {"NODE_PATH": str(self.tools.node / "node_modules"), **(env or {})}
            result = self.tools.node_program(f"{program}.js", cwd=folder, env=env, input=json.dumps(message))
        else:
            result = self.tools.pip(program, cwd=folder, env=env, input=json.dumps(message))
        assert result.returncode == 0, result.stdout
        return result.stdout.strip()

    def verify(self, secret, headers, body):
        """OK, or the error."""
        return self.run(CLIENTS, "verify", {"secret": secret, "headers": headers, "body": body.decode()})


@pytest.fixture(params=["node", "python"])
def library(tools, request):
    return Library(tools, request.param)


def signed(secret, request, at):
    """The headers of that message if it were signed at another time."""
    text = f"{request.headers['webhook-id']}.{at}.".encode() + request.body
    mac = hmac.digest(base64.b64decode(secret.removeprefix("whsec_")), text, "sha256")
    return {**request.headers, "webhook-timestamp": str(at), "webhook-signature": "v1," + base64.b64encode(mac).decode()}


def test_a_delivery_is_verified(library, delivered):
    (secret,), request = delivered[0]
    assert library.verify(secret, request.headers, request.body) == "OK"


def test_both_secrets_verify_during_a_rotation(library, delivered):
    secrets, request = delivered[1]
    assert len(set(secrets)) == 2
    assert [library.verify(secret, request.headers, request.body) for secret in secrets] == ["OK", "OK"]


def test_another_secret_does_not_verify(library, delivered):
    (_, request), ((_, new), _) = delivered
    assert library.verify(new, request.headers, request.body) == WRONG


def test_a_changed_byte_is_refused(library, delivered):
    (secret,), request = delivered[0]
    changed = request.body.replace(b'"PENDING"', b'"PENDINH"', 1)
    assert len(changed) == len(request.body) and changed != request.body
    assert library.verify(secret, request.headers, changed) == WRONG
    other_id = {**request.headers, "webhook-id": request.headers["webhook-id"][::-1]}
    assert library.verify(secret, other_id, request.body) == WRONG


def test_an_old_message_is_refused(library, delivered):
    (secret,), request = delivered[0]
    now = int(time.time())
    assert library.verify(secret, signed(secret, request, now - 240), request.body) == "OK"
    assert library.verify(secret, signed(secret, request, now - 301), request.body) == OLD
    moved = {**request.headers, "webhook-timestamp": str(int(request.headers["webhook-timestamp"]) - 1)}
    assert library.verify(secret, moved, request.body) == WRONG


# src/web/README.md

# What stands around its lines: the variables that they use, and the end.
AROUND = {
    "node": ("const given = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));\n"
             "const rawBody = Buffer.from(given.body), request = { headers: given.headers };\n",
             "console.log(message.event_id);\n", "readme.js"),
    "python": ("import json, sys\ngiven = json.load(sys.stdin)\n"
               "raw_body, headers = given['body'].encode(), given['headers']\n",
               "print(message['event_id'])\n", "readme.py"),
}


def shown_in_readme(install):
    """The indented lines behind the words that install a library."""
    found = re.findall(rf"\(`{install} standardwebhooks`\):\n\n((?: {{6}}\S.*\n)+)\n", documents.INTEGRATOR.read_text())
    assert len(found) == 1, (install, found)
    return re.sub(r"(?m)^ {6}", "", found[0])


def test_the_lines_of_the_readme_verify(library, delivered, tmp_path):
    (secret,), request = delivered[0]
    lines = shown_in_readme({"node": "npm install", "python": "pip install"}[library.language])
    assert len(lines.splitlines()) <= 4
    before, behind, name = AROUND[library.language]
    (tmp_path / name).write_text(before + lines + behind)
    seen = library.run(tmp_path, "readme", {"headers": request.headers, "body": request.body.decode()},
                       env={"COMANDA_WEBHOOK_SECRET": secret})
    assert seen == request.json["event_id"]
