"""What must not get out: keys, card numbers, guests' phones and addresses, in logs, metrics, errors and core files."""

import base64
import contextlib
import json
import os
import re
import resource
import signal
import subprocess

import pytest

from support.box import RUNNER, Box
from support.orders import CARD_NUMBER, accepted, item, new_key, path
from support.raw import Wire, head

PHONE, EMAIL, REFERENCE = "987001234", "rosa.canaria@correo.example", "canary-7f3a-of-the-till"
RESTAURANT = {"name": "La Canaria", "country_code": "PE", "timezone": "America/Lima", "currency": "PEN",
              "payment_methods": [{"code": "cash", "description": "Efectivo"}],
              "clients": [{"name": "Rosa Canaria", "email": EMAIL, "country_calling_code": "+51", "phone_number": PHONE}]}


def private_keys(box):
    """The secret bytes of each private key on disk, in the forms in which they could get out."""
    for file in box.data.rglob("*.key"):
        text = file.read_text()
        body = "".join(re.search(r"-----BEGIN [A-Z ]+-----\n(.*?)-----END", text, re.S)[1].split())
        yield from (line for line in text.splitlines() if "-----" not in line)
        yield base64.b64decode(body)[-40:].hex()


def everywhere(box, key, word):
    """Requests with the word wherever a client may put it, right or wrong: [(method, path, body, headers)]."""
    orders = "/v1/orders"
    for place in (f"/{word}", f"{orders}/{word}", f"/v1/clients/{word}", f"{orders}/{word}/combos/{word}",
                  f"/auth/api-keys/{word}", f"/problems/{word}", f"/v1/menu/products/{word}"):
        yield "GET", place, None, {}
        yield "POST", place, {}, {}
    for query in (f"key={word}", f"filter[search]={word}", f"filter[email]={word}", f"filter[phone]={word}",
                  f"{word}=1", f"page={word}", f"sort={word}", f"filter[updated_since]={word}"):
        yield "GET", f"/v1/clients?{query}", None, {}
    for body in ({"service_type": word}, {"service_type": "ONSITE", "client_id": word}, {word: word},
                 {"service_type": "ONSITE", "order_title": word * 40}, {"service_type": "ONSITE", "comment": [word]},
                 {"service_type": "TABLE", "table_id": word}, word, [word]):
        yield "POST", orders, body, new_key()
    yield "POST", orders, b'{"service_type": "ONSITE", "comment": "' + word.encode(), new_key()
    yield "POST", orders, b"\xff" + word.encode(), new_key()
    yield "POST", orders, {"service_type": "ONSITE"}, {"Idempotency-Key": word}
    yield "POST", orders, {"service_type": "TAKEAWAY"}, {"Idempotency-Key": word}
    for name in ("Authorization", "X-API-Key", "Prefer", "If-None-Match", "Accept", "Host", "Cookie", "Referer",
                 "Content-Type", "Content-Encoding", "Expect", "X-Forwarded-For", "Origin"):
        yield "POST", orders, {"service_type": "ONSITE"}, {**new_key(), "X-API-Key": key, name: word}
    yield "GET", orders, None, {"Authorization": f"Basic {word}"}
    yield "GET", orders, None, {"Authorization": f"Bearer {word} {word}"}


def ask_everywhere(box, key, words):
    for word in words:
        for method, target, body, headers in everywhere(box, key, word):
            with contextlib.closing(box.client(None if "Authorization" in headers else key)) as client:
                answer = client.send(method, target, body, headers)
                yield word, target, answer
        for raw in (head("GET", "/v1/orders", f"{word}"), head("GET", "/v1/orders", f"X {word}: y"),
                    head(word, "/v1/orders"), head("GET", f"http://{word}@x/v1/orders"),
                    f"GET /{word} HTTP/{word}\r\n\r\n".encode(), f"{word}\r\n\r\n".encode()):
            with Wire(box) as wire:
                yield word, "", wire.send(raw).answer()


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """What a box told after it was asked everything: (log, metrics, [(word, path, answer)], secrets)."""
    box = Box(options=["--log_level", "debug"])
    file = tmp_path_factory.mktemp("canary") / "restaurant.json"
    file.write_text(json.dumps({"companies": [RESTAURANT]}))
    box.bring_in(file)
    made = box.make_key()
    key = made["key"]
    box.start()
    gone = key[:-6] + "000000"
    words = [key, gone, CARD_NUMBER, "4111-1111-1111-1111", PHONE, "+51" + PHONE, EMAIL]
    answers = list(ask_everywhere(box, key, words))
    with contextlib.closing(box.client(key)) as api:
        guest = accepted(api.get(f"/v1/clients?filter[email]={EMAIL}"))[0]
        order = accepted(api.post("/v1/orders", {"service_type": "ONSITE", "client_id": guest["id"]},
                                  {"Idempotency-Key": REFERENCE}), 201)
        assert order["client"]["phone"] == "+51" + PHONE
        order = api.pay(api.add(order, item(10)), 10)
        new = accepted(api.post("/auth/api-keys", {"name": "x", "scopes": ["orders:read"]}), 201)
        rotated = accepted(api.post(f"/auth/api-keys/{new['id']}/rotate"))
        box.execute("ALTER TABLE order_status RENAME TO hidden")  # trouble inside, while guests order
        failed = api.post("/v1/orders", {"service_type": "ONSITE", "client_id": guest["id"], "comment": PHONE},
                          {"Idempotency-Key": REFERENCE + "-2"})
        assert failed.status == 500
        answers.append(("", "", failed))
        box.execute("ALTER TABLE hidden RENAME TO order_status")
        answers.append(("", "", api.post(path(order, "cancel"), {"reason": "x"})))
        metrics = api.get("/metrics").body.decode()
    file.write_text(json.dumps({"companies": [{**RESTAURANT, "clients": [{"email": EMAIL, "name": PHONE, "colour": 1}]}]}))
    assert box.command("import", str(file), "--data", str(box.data), check=False).returncode == 1
    box.signal(signal.SIGHUP)
    secrets = {"a key": [key, key[14:40], new["key"], rotated["key"], gone[14:40]],
               "a card number": [CARD_NUMBER, "4111-1111-1111-1111"], "a phone": [PHONE], "an e-mail": [EMAIL],
               "an Idempotency-Key": [REFERENCE], "a private key": list(private_keys(box))}
    assert box.stop() == 0
    yield box.log_text(), metrics, answers, secrets
    box.discard()


KINDS = ["a key", "a card number", "a phone", "an e-mail", "an Idempotency-Key", "a private key"]


def found(text, secrets):
    folded = text.lower()
    return [line for secret in secrets for line in text.splitlines() if secret in line] or \
           [secret for secret in secrets if secret.lower() in folded]


@pytest.mark.parametrize("kind", KINDS)
def test_the_log_and_the_metrics_tell_no_secret(told, kind):
    log, metrics, _, secrets = told
    assert secrets[kind] and all(len(s) > 8 for s in secrets[kind])
    assert '"request' in log or "request" in log
    assert found(log, secrets[kind]) == []
    assert found(metrics, secrets[kind]) == []


def test_the_log_tells_of_the_requests_nonetheless(told):
    log = told[0]
    for words in ("/v1/orders/*", "/v1/clients/*", "/v1/orders/*/combos/*", "request failed", "/cancel"):
        assert words in log, words


@pytest.mark.parametrize("kind", ["a key", "a card number", "a private key"])
def test_no_answer_repeats_a_secret_but_the_path_it_came_in(told, kind):
    _, _, answers, secrets = told
    assert len(answers) > 300
    repeated = []
    for word, target, answer in answers:
        body = answer.body.decode()
        if answer.status < 400 or answer.status == 421 or word in target:
            continue  # 421 names the host
        repeated += [f"{target} {body}"] if found(body + str(answer.headers), secrets[kind]) else []
    assert repeated == []


def test_an_error_inside_shows_nothing_of_the_inside(told):
    (answer,) = [a for _, _, a in told[2] if a.status == 500]
    for words in ("Mars", "sqlite", "SELECT", ".cc", REFERENCE, PHONE, EMAIL):
        assert words not in answer.body.decode()


def dumps_core(command, ready, cwd):
    """Whether a process that is aborted leaves its memory behind."""
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (hard, hard)))
    for line in process.stdout:
        if ready in line:
            break
    process.send_signal(signal.SIGABRT)
    _, status = os.waitpid(process.pid, 0)
    process.returncode = -signal.SIGABRT
    process.stdout.close()
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT
    return os.WCOREDUMP(status) or any("core" in name for name in os.listdir(cwd))


def test_a_crash_leaves_no_core_file(tmp_path):
    box = Box()
    box.bring_in("demo")
    command = [*RUNNER, str(box.binary), "serve", "--data", str(box.data), "--listen", f"127.0.0.1:{box.port}"]
    assert not dumps_core(command, b"listening", tmp_path)
    box.discard()
