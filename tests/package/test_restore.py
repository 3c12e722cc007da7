"""A box is restored by its package alone: on a new machine after the old one died, and in place, with the service that runs."""

import json
import re
import secrets

import pytest

from support import documents
from support.debian_root import DebianRoot

KEY = re.compile(r"cmd_live_\w+")
ORDER = """curl -sS --cacert /var/lib/comanda/tls/ca.crt -H "Authorization: Bearer {key}" -H "Idempotency-Key: {reference}" \\
  -H "Content-Type: application/json" -d '{{"service_type":"TAKEAWAY","order_title":"{title}"}}' https://localhost:8443/v1/orders"""
LIST = """curl -sS --cacert /var/lib/comanda/tls/ca.crt -H "Authorization: Bearer {key}" https://localhost:8443/v1/orders"""


def place_order(root, key, title):
    """A till that trusts the authority it has installed."""
    answer = json.loads(root.run(ORDER.format(key=key, reference=title.replace(" ", "-"), title=title)))
    assert answer["data"]["order_title"] == title, answer


def titles(root, key):
    """Of the orders of this test; the demo brings two of its own."""
    found = {order["order_title"] for order in json.loads(root.run(LIST.format(key=key)))["data"]}
    return found & {"before", "after", "first on the new machine"}


def give_machine_id(root):
    root.path("/etc/machine-id").write_text(secrets.token_hex(16) + "\n")


def open_restaurant(root, package):
    """Installs the package, brings the demo in, takes an order and a backup; returns the till's key."""
    give_machine_id(root)
    status, said = root.install(package)
    assert status == 0, said
    root.run("runuser -u comanda -- comanda import demo")
    key = KEY.search(root.run("runuser -u comanda -- comanda keys create --name till --scopes orders:read,orders:write")).group(0)
    place_order(root, key, "before")
    root.run("mkdir -p /media/usb; comanda backup /media/usb/comanda-2026-11-20")
    return key


@pytest.fixture
def new_machine(bare):
    root = DebianRoot(bare.suite)
    yield root
    root.close()


def serves(root):
    return root.try_run("curl -sk -o /dev/null -w '%{http_code}' https://localhost:8443/healthz")[1] == "200"


def test_a_dead_box_is_replaced_by_a_new_machine_in_three_commands(bare, new_machine, package):
    key = open_restaurant(bare, package)
    authority = bare.path("/var/lib/comanda/tls/ca.crt").read_bytes()
    backup = bare.path("/media/usb/comanda-2026-11-20")
    for path in [backup, *backup.rglob("*")]:
        target = new_machine.path("/media/usb/comanda-2026-11-20") / path.relative_to(backup)
        if path.is_dir():
            target.mkdir(parents=True)
        else:
            target.write_bytes(path.read_bytes())
    give_machine_id(new_machine)

    status, said = new_machine.install(package)
    commands = 1
    assert status == 0, said
    said = new_machine.run("comanda restore /media/usb/comanda-2026-11-20 --yes")
    commands += 1
    assert "the service runs" in said and "webhooks are held" in said and "3 orders" in said, said
    resumed = new_machine.run("comanda resume")
    commands += 1

    assert "resumed" in resumed and commands == 3
    assert new_machine.path("/var/lib/comanda/tls/ca.crt").read_bytes() == authority, "tills trust it as before"
    place_order(new_machine, key, "first on the new machine")
    assert titles(new_machine, key) == {"before", "first on the new machine"}
    assert new_machine.run("stat -c '%U %a' /var/lib/comanda").strip() == "comanda 700"
    assert new_machine.run("find /var/lib/comanda ! -user comanda") == ""
    assert new_machine.run("ls -d /var/lib/comanda.*").startswith("/var/lib/comanda.before-restore-")


def test_a_restore_stops_and_starts_the_service(bare, package):
    key = open_restaurant(bare, package)
    place_order(bare, key, "after")
    bare.calls()

    said = bare.run("comanda restore /media/usb/comanda-2026-11-20 --yes")

    assert bare.calls() == ["stop comanda.service", "start comanda.service"]
    assert "held" not in said and titles(bare, key) == {"before"}
    former = re.search(r"the former data directory is (\S+);", said).group(1)
    # And back again.
    bare.run(f"comanda restore {former} --yes")
    assert titles(bare, key) == {"before", "after"}


def test_what_is_refused_leaves_the_service_alone(bare, package):
    key = open_restaurant(bare, package)
    place_order(bare, key, "after")
    bare.run("head -c 30000 /media/usb/comanda-2026-11-20/live.db >/tmp/cut; cp /tmp/cut /media/usb/comanda-2026-11-20/live.db")
    bare.calls()
    status, said = bare.try_run("comanda restore /media/usb/comanda-2026-11-20 --yes")
    assert status == 1 and "a part of the file is missing" in said, said
    assert bare.calls() == [] and titles(bare, key) == {"before", "after"}


def test_a_server_that_is_not_the_unit_is_left_alone(bare, package):
    open_restaurant(bare, package)
    bare.run("systemctl stop comanda.service")
    bare.run("setsid runuser -u comanda -- comanda serve >/dev/null 2>&1 </dev/null & "
             "until curl -sk -o /dev/null https://localhost:8443/healthz; do sleep 0.1; done")
    bare.calls()
    status, said = bare.try_run("comanda restore /media/usb/comanda-2026-11-20 --yes")
    assert status == 1 and "it is not comanda.service: stop it first" in said, said
    assert bare.calls() == [] and serves(bare)


def test_a_restore_that_does_not_start_says_how_to_go_back(bare, package):
    key = open_restaurant(bare, package)
    place_order(bare, key, "after")
    bare.run("echo 'listen = 192.0.2.1:8443' >/media/usb/comanda-2026-11-20/comanda.conf")
    # The checksums of the backup tell that its settings were changed.
    status, said = bare.try_run("comanda restore /media/usb/comanda-2026-11-20 --yes --damaged")
    assert status == 70 and "restored, but the service does not serve" in said, said
    back = re.search(r"To go back: (comanda restore \S+)", said).group(1)
    bare.run(back + " --yes")
    assert titles(bare, key) == {"before", "after"}


def test_the_readmes_factory_reset(bare, package):
    key = open_restaurant(bare, package)
    authority = bare.path("/var/lib/comanda/tls/ca.crt").read_bytes()
    bare.run("comanda restore /media/usb/comanda-2026-11-20 --yes")
    text = bare.run("cat /usr/share/doc/comanda/systemd/README.md")
    commands = documents.commands(documents.section(text, "Reset to factory state"))
    assert len(commands) == 3, commands
    # A machine made from the image of another one.
    own = "rm -f /etc/machine-id; systemd-machine-id-setup"
    assert own in text
    image = bare.run("cat /etc/machine-id")
    bare.run(own)
    assert bare.run("cat /etc/machine-id") != image
    for command in commands:
        bare.run(command.replace("systemctl stop comanda", "systemctl stop comanda.service")
                 .replace("systemctl start comanda", "systemctl start comanda.service"))
    assert serves(bare) and bare.path("/var/lib/comanda/tls/ca.crt").read_bytes() != authority
    assert bare.run("ls /var/lib | grep comanda").split() == ["comanda"]
    assert "401" == bare.run("curl -sk -o /dev/null -w '%{http_code}' -H 'Authorization: Bearer " + key +
                             "' https://localhost:8443/v1/orders")
