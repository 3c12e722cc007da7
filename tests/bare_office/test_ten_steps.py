"""systemd/head-office/README.md on three bare Debians and a box, from the first command to the plug that is pulled on a Friday
evening. Each command runs as it stands there."""

import json
import re
import time
import uuid

import pytest

from support import documents
from support.bare_office import NAME, NODES, BareOffice, blocks, steps
from support.box import ROOT
from support.debian_root import ARCHITECTURE, SUITES
from support.waiting import PATIENCE_S, wait_until

DATA = "/var/lib/comanda-head"
SERVING_S = 4 * PATIENCE_S
ORDER = '{"service_type": "TAKEAWAY", "order_title": "Rosa"}'


def package(directory, name):
    found = list((ROOT / "build" / directory).glob(f"{name}_*_{ARCHITECTURE}.deb"))
    assert len(found) == 1, "first: scripts/package and scripts/package --head"
    return found[0]


@pytest.fixture(scope="module", params=SUITES)
def office(request):
    made = BareOffice(request.param)
    try:
        made.head, made.boxes = package("head-package", "comanda-head"), package("package", "comanda")
        yield made
    finally:
        made.close()


def readyz(machine):
    return machine.try_run("curl -sk -m 10 -w ' %{http_code}' https://127.0.0.1:8443/readyz")[1]


def wait_until_serves(office):
    """Through HAProxy, with the certificate that a box verifies."""
    wait_until(lambda: office.box.try_run(f"curl -s -m 10 -o /dev/null -w '%{{http_code}}' https://{NAME}/readyz")[1] == "200",
               lambda: "\n".join([readyz(office.node1), office.node1.try_run("journalctl --no-pager -n 40 -u comanda-head")[1]]),
               SERVING_S)


def certificate_for_the_name(office):
    """As an administrator has it from an authority that boxes trust."""
    office.node1.run(f"""mkdir -p public && cd public
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=Public -keyout ca.key -out ca.crt \\
          -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN={NAME} -keyout one.key -out one.csr
        printf 'subjectAltName=DNS:{NAME}\\nextendedKeyUsage=serverAuth\\nbasicConstraints=critical,CA:FALSE\\n' >extensions
        openssl x509 -req -in one.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile extensions -out one.crt""")
    chain = office.node1.run("cat public/one.crt public/ca.crt public/one.key")
    for name in NODES:
        office.machines[name].path(f"/root/{NAME}.pem").write_text(chain)
    office.box.path("/usr/local/share/ca-certificates/public.crt").write_text(office.node1.run("cat public/ca.crt"))
    office.box.run("update-ca-certificates")


def test_the_ten_steps_lead_to_a_linked_box(office):
    named, packages, certificates, etcd, patroni, repository, database, heads, haproxy, link = [blocks(step) for step in steps()]
    everywhere = tuple(NODES)

    office.play(named.pop(0), *everywhere)
    for machine in office.machines.values():
        machine.copy(office.head, f"/root/{office.head.name}")
    # Debian asks whether to go on, and everybody says yes.
    office.play(packages.pop(0).replace("apt install", "apt-get -y -q install"), *everywhere)
    office.play(certificates.pop(0), "node1")
    office.play(certificates.pop(0), *everywhere)
    office.play(etcd.pop(0), *everywhere)
    settings = patroni.pop(0)
    if office.suite != "bookworm":
        for machine in office.machines.values():
            machine.run("sed -i '/bin_dir/s/15/17/' /usr/share/doc/comanda-head/patroni.yml")
    for name in everywhere:
        office.play(settings, name)
        wait_until(lambda: any(member[0] == name and member[2] in ("running", "streaming") for member in office.members()),
                   lambda: str(office.members()) + office.machines[name].try_run("journalctl --no-pager -n 30 -u patroni")[1],
                   6 * PATIENCE_S)
    office.wait_for_members()

    office.node1.run("chown postgres /srv/pgbackrest")
    backups = repository.pop(0).split("\n")
    assert "pgbackrest.cron" in backups.pop(), backups
    office.play("\n".join(backups), "node1")
    office.play("cp /usr/share/doc/comanda-head/pgbackrest.cron /etc/cron.d/pgbackrest", *everywhere)
    office.play(database.pop(0), "node1")

    office.node1.copy(ROOT / "tests/support/other_restaurant.json", f"{DATA}/chain.json")
    first = heads.pop(0)
    office.play(first, "node1")
    begin, ends = first.split("systemctl restart")
    assert ends.count("\n") == 1  # as the document says: without the last two lines
    office.play(begin, "node2")
    office.play(heads.pop(0), "node2")
    wait_until(lambda: re.search(r"standby of .*node1.*503$", readyz(office.machines["node2"]), re.S),
               lambda: readyz(office.machines["node2"]) + office.machines["node2"].try_run("journalctl --no-pager -u comanda-head")[1])

    certificate_for_the_name(office)
    office.play(haproxy.pop(0), *everywhere)
    wait_until_serves(office)

    create, linking = link
    company = json.loads(office.node1.path(f"{DATA}/chain.json").read_text())["companies"][0]["id"]
    assert company in office.node1.try_run(create.replace("--company ID ", ""))[1]
    office.key = re.search(r"[a-z]+_live_\w+", office.play(create, "node1", ID=company))[0]

    status, said = office.box.install(office.boxes)
    assert status == 0, said
    office.box.path("/root/cloud.key").write_text(office.key)
    office.box.run("chmod 600 cloud.key")
    office.box.run(linking)
    office.box.run("comanda cloud status")
    assert not any([named, packages, certificates, etcd, patroni, repository, database, heads, haproxy])


def ask(machine, method, path, key, body=None):
    words = ["curl", "-sk", "-m", "40", "-X", method, "-H", f"'X-API-Key: {key}'"]
    if body:
        words += ["-H", "'Content-Type: application/json'", "-H", f"'Idempotency-Key: {uuid.uuid4()}'", "-d", f"'{body}'"]
    where = path if path.startswith("https") else "https://127.0.0.1:8443" + path
    answer = machine.run(" ".join([*words, f"'{where}'"]))
    assert '"data"' in answer, answer
    return json.loads(answer)


def test_the_plug_of_the_primary_is_pulled_on_a_friday_evening(office):
    """The operator does nothing."""
    key = re.search(r"[a-z]+_live_\w+", office.box.run("comanda keys create --name till --scopes all"))[0]
    sold = []

    def sell(many):
        sold.extend(ask(office.box, "POST", "/v1/orders", key, ORDER)["data"]["id"] for _ in range(many))

    sell(5)
    leader = next(name for name, role, _ in office.members() if role == "Leader")
    begin = time.monotonic()
    office.machines[leader].pull_the_plug()
    sell(15)
    wait_until_serves(office)
    print(f"{time.monotonic() - begin:.0f} s until the office was served again")
    sell(5)
    wait_until(lambda: office.box.try_run("comanda cloud status")[0] == 0,
               lambda: office.box.try_run("comanda cloud status")[1], SERVING_S)
    references = sorted(ask(office.box, "GET", f"/v1/orders/{one}", key)["data"]["reference"] for one in sold)
    there = ask(office.box, "GET", f"https://{NAME}/v1/orders?per_page=100", office.key)["data"]
    assert sorted(order["reference"] for order in there) == references
    office.wait_for_members()
