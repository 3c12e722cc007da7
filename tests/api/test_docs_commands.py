"""The commands of the page /docs, pasted one after the other into a fresh demo restaurant: each gets the answer that the
document promises, and none of them twice what it asked for once."""

import contextlib
import json
import os
import subprocess

import pytest

from support import pairing
from support.box import Box, Client, free_port
from support.docs_programs import BY_ID, programs, promised
from support.openapi import breaches


@pytest.fixture(scope="module")
def sandbox():
    """(address, key, box): a box whose sandbox has just seeded itself."""
    box = Box()
    port = free_port()
    box.options += ["--sandbox_listen", f"127.0.0.1:{port}"]
    box.start()
    yield f"https://127.0.0.1:{port}", box.make_key(env="test")["key"], box
    assert box.discard() == 0


NEED_A_DEVICE = {"acceptDevice", "refuseDevice", "shutDeviceOut"}


def commands(origin):
    """[(operation, the example's summary, the command)] in page order."""
    return [row for row in programs(origin)["curl"] if row[1] is not None]


def test_each_command_of_the_page_works_as_it_stands(sandbox):
    origin, key, box = sandbox
    environment = {**os.environ, "COMANDA_CA": str(box.cafile), "COMANDA_KEY": key, "no_proxy": "127.0.0.1"}
    asked = commands(origin)
    assert {operation.id for operation, _, _ in asked} == set(BY_ID)
    wrong = []
    client = Client(int(origin.rpartition(":")[2]), key, str(box.cafile))
    for operation, summary, command in asked:
        device = pairing.Asking(client) if operation.id in NEED_A_DEVICE else None
        if device:
            command = command.replace("482913", device.asked["number"])
        if operation.id == "shutDeviceOut":
            command = command.replace("01a1f891-c90b-7438-b4a8-fce55bdcf137", device.key_id())
        if operation.id == "pair" and "request" in summary:
            device = pairing.Asking(client)
            command = command.replace("0000000000000000000000", device.asked["request"])
        elif operation.id == "pair":  # the document's code is nobody's
            command = command.replace("0000000000000000000000", pairing.read(pairing.make_uri(box, "--env", "test"))["c"])
        # -f: a refusal is a failure, which the page's reader sees in the body instead.
        result = subprocess.run(["sh", "-c", "set -e\ncurl() { command curl -sS --fail-with-body \"$@\"; }\n" + command],
                                env=environment, capture_output=True, text=True)
        if device:
            device.go()
        if operation.id == "askToBeLetIn" and result.returncode == 0:
            client.delete(f"/box/devices/requests/{json.loads(result.stdout)['data']['number']}")
        said = (operation.id, summary, result.returncode, result.stdout[:600], result.stderr)
        if result.returncode != 0:
            wrong.append(said)
            continue
        schema = None if "waits" in summary else promised(operation)
        if schema and breaches(schema, json.loads(result.stdout)):
            wrong.append((*said, breaches(schema, json.loads(result.stdout))))
    assert wrong == []


def test_a_page_pasted_again_pays_nothing_twice(sandbox):
    origin, key, box = sandbox
    environment = {**os.environ, "COMANDA_CA": str(box.cafile), "COMANDA_KEY": key, "no_proxy": "127.0.0.1"}
    again = {"placeOrder", "addCombos", "addPayment", "addDiscount"}
    orders = []
    for _ in range(2):
        for operation, _, command in commands(origin):
            if operation.id in again:
                subprocess.run(["sh", "-c", command], env=environment, check=True, capture_output=True)
        with contextlib.closing(box.client(key)) as client:
            client.port = int(origin.rsplit(":", 1)[1])
            orders.append([(order["id"], order["version"]) for order in client.get("/v1/orders").data])
    assert orders[0] == orders[1]
