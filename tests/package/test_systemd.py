"""From installation to purge under the real systemd (BootedRoot): the service in its sandbox, its sockets, and what becomes
of connections while it restarts. test_life.py has the same life beside a stand-in, for machines where systemd cannot be the
first process, and the cases that need no systemd."""

import hashlib
import json
import re
import subprocess

import pytest

from support import documents
from support.till_through_restart import Tills
from support.waiting import wait_until

SERVICE, SETUP, HTTPS = "comanda.service", "comanda-setup.socket", "comanda-https.socket"
UNITS = (SERVICE, SETUP, HTTPS)
REFUSING = """#!/bin/sh
if [ "$1 $2" = "config check" ]; then
  echo "comanda: live.db cannot be read by this program" >&2
  exit 70
fi
"""
CONFIGURATION = "/var/lib/comanda/comanda.conf"


def enabled(machine, unit=SERVICE):
    return machine.try_run(f"systemctl is-enabled {unit}")[1].strip()


def active(machine, unit=SERVICE):
    return machine.try_run(f"systemctl is-active {unit}")[1].strip()


def states(machine):
    return {unit: (enabled(machine, unit), active(machine, unit)) for unit in UNITS}


def pid(machine):
    return machine.run(f"systemctl show --property MainPID --value {SERVICE}").strip()


def status(machine, url):
    return machine.try_run(f"curl -sk -o /dev/null -w '%{{http_code}}' {url}")[1]


def serves(machine, port=8443):
    return status(machine, f"https://localhost:{port}/healthz") == "200"


def refuses(machine, port):
    """Whether nothing listens there."""
    return machine.try_run(f"curl -sk --max-time 5 https://localhost:{port}/healthz")[0] == 7


def log(machine):
    return machine.run(f"journalctl --no-pager -q -o cat -u {SERVICE}")


def listening(machine, *ports):
    """{port: inode} of the sockets that listen: another inode is another socket."""
    found = {}
    for line in machine.run("cat /proc/net/tcp /proc/net/tcp6").splitlines():
        words = line.split()
        if words[3] == "0A" and (not ports or int(words[1].rsplit(":", 1)[1], 16) in ports):
            found[int(words[1].rsplit(":", 1)[1], 16)] = words[9]
    return found


def version(machine):
    return machine.run("dpkg-query -W -f '${db:Status-Abbrev} ${Version}' comanda")


def wait_until_succeeds(machine, command):
    wait_until(lambda: machine.try_run(command)[0] == 0, command)


@pytest.fixture(scope="session")
def later(repack):
    """The next package, whose units are changed, as the next package's may be."""
    return repack("9.0")


def test_an_installation_enables_and_starts_what_it_should(machine):
    assert states(machine) == {SERVICE: ("enabled", "active"), SETUP: ("enabled", "active"), HTTPS: ("disabled", "inactive")}
    assert serves(machine) and refuses(machine, 443)
    assert machine.run("systemctl --failed --no-legend") == ""
    assert f'took over a listener address=[::]:80 from={SETUP} for=setup_listen' in log(machine).replace('"', "")
    # In its sandbox: no capability, and another root.
    assert "CapEff:\t0000000000000000" in machine.run(f"cat /proc/{pid(machine)}/status")


def test_port_80_says_which_https_address_to_use(machine):
    machine.run("echo '127.0.0.1 comanda.local' >>/etc/hosts")
    for path in ("/", "/v1/orders?x=1", "/../etc/passwd"):
        said = machine.run(f"curl -s -i --path-as-is -H 'Authorization: Bearer cmd_live_x' http://comanda.local{path}")
        assert said.startswith("HTTP/1.1 403 "), said
        problem = json.loads(said.split("\n\n")[1])
        assert problem["code"] == "https_required" and "Use https://comanda.local:8443. " in problem["detail"], problem


def test_a_technician_gets_port_443(machine):
    """With the commands of systemd/README.md."""
    commands = documents.commands(documents.section(documents.TECHNICIAN, "Open or close ports"))
    assert len(commands) == 1
    machine.run(commands[0])
    assert active(machine, HTTPS) == "active"
    assert serves(machine, 443) and serves(machine, 8443)
    assert f"from={HTTPS} for=listen" in log(machine)
    # Who asks on port 80 is sent there.
    assert "Use https://127.0.0.1. " in machine.run("curl -s http://127.0.0.1/")
    machine.run(commands[0].replace("enable", "disable"))
    assert active(machine, HTTPS) == "inactive" and refuses(machine, 443)
    assert serves(machine, 8443)


# What a technician may have done before an upgrade, and what is to be afterwards: the states of the service, the socket of
# port 80 and that of port 443.
BEFORE = {
    "nothing": "true",
    "stopped": f"systemctl stop {SERVICE}",
    "disabled": f"systemctl disable {SERVICE}",
    "disabled and stopped": f"systemctl disable --now {SERVICE}",
    "masked and stopped": f"systemctl stop {SERVICE} && systemctl mask {SERVICE}",
    "masked": f"systemctl mask {SERVICE}",
    "port 80 disabled": f"systemctl disable --now {SETUP}",
    "port 80 stopped": f"systemctl stop {SETUP}",
    "port 80 masked": f"systemctl mask --now {SETUP}",
    "port 443 enabled": f"systemctl enable {HTTPS} && systemctl restart {SERVICE}",
    "port 443 enabled and stopped": f"systemctl enable {HTTPS} && systemctl restart {SERVICE} && systemctl stop {HTTPS}",
    "port 443 masked": f"systemctl mask {HTTPS}",
}


@pytest.mark.parametrize("done", BEFORE)
def test_an_upgrade_keeps_what_was(machine, later, done):
    machine.run(BEFORE[done])
    before, process, sockets = states(machine), pid(machine), listening(machine)

    code, said = machine.install(later)

    assert code == 0, said
    assert version(machine) == "ii  9.0"
    assert states(machine) == before, said
    running = before[SERVICE][1] == "active"
    # systemd does not restart a masked unit.
    assert (pid(machine) != process) == (running and before[SERVICE][0] != "masked")
    if running:
        assert serves(machine)
    # The same sockets: one that was stopped while the server had it is not there any more.
    ports = {80: SETUP, 443: HTTPS}
    kept = {port: inode for port, inode in sockets.items()
            if before[ports.get(port, SERVICE)][1] == "active" or before[SERVICE][0] == "masked"}
    assert listening(machine) == kept
    assert not machine.path("/run/comanda.stopped").exists()
    assert machine.run("find /run/systemd/system -name 'comanda*'") == ""


def test_an_upgrade_adds_a_unit_that_is_new(booted, package, later, repack, tmp_path):
    """From a package without sockets, and whose service stores none."""
    subprocess.run(["dpkg-deb", "-R", package, tmp_path / "tree"], check=True)
    without = {f"usr/lib/systemd/system/{SETUP}": None, f"usr/lib/systemd/system/{HTTPS}": None}
    service = f"usr/lib/systemd/system/{SERVICE}"
    without[service] = re.sub("FileDescriptorStoreMax=.*", "", (tmp_path / "tree" / service).read_text())
    for script in ("preinst", "postinst", "prerm", "postrm"):
        text = (tmp_path / "tree/DEBIAN" / script).read_text()
        without[f"DEBIAN/{script}"] = text.replace(f" {SETUP}", "").replace(HTTPS, "")
    assert booted.install(repack("0.0.9", without))[0] == 0
    assert serves(booted) and 80 not in listening(booted)

    code, said = booted.install(later)

    assert code == 0, said
    assert states(booted) == {SERVICE: ("enabled", "active"), SETUP: ("enabled", "active"), HTTPS: ("disabled", "inactive")}
    assert serves(booted) and status(booted, "http://localhost/") == "403"
    assert booted.run("find /run/systemd/system -name 'comanda*'") == ""


@pytest.mark.parametrize("happens", ["an upgrade", "a restart", "a crash"])
def test_tills_wait_and_are_not_refused(machine, later, happens):
    process, sockets = pid(machine), listening(machine)
    with Tills(machine) as tills:
        if happens == "an upgrade":
            assert machine.install(later)[0] == 0
        elif happens == "a restart":
            machine.run(f"systemctl restart {SERVICE}")
        else:
            machine.run(f"kill -9 {process}")
            wait_until_succeeds(machine, f"[ $(systemctl is-active {SERVICE}) = active ] && [ \"$(systemctl show -P MainPID {SERVICE})\" != {process} ]")
    assert pid(machine) != process
    assert tills.orders and "refused" not in tills.seen, tills.seen
    tills.require_each_once()
    assert listening(machine) == sockets


def test_without_the_store_tills_are_refused_and_lose_nothing(machine):
    """What the former test would see otherwise."""
    machine.run(f"mkdir /etc/systemd/system/{SERVICE}.d")
    machine.path(f"/etc/systemd/system/{SERVICE}.d/none.conf").write_text("[Service]\nFileDescriptorStoreMax=0\n")
    machine.run(f"systemctl daemon-reload && systemctl restart {SERVICE} && systemctl restart {SERVICE}")
    with Tills(machine) as tills:
        machine.run(f"systemctl restart {SERVICE}")
    assert "refused" in tills.seen
    tills.require_each_once()


def test_a_stop_closes_everything_and_no_connection_starts_it(machine):
    machine.run(f"systemctl enable {HTTPS} && systemctl restart {SERVICE}")
    assert sorted(listening(machine)) == [80, 443, 8443]
    machine.run(f"systemctl stop {SERVICE}")
    wait_until_succeeds(machine, f"[ $(systemctl is-active {SETUP}) = inactive ]")
    for port in (80, 443, 8443):
        assert refuses(machine, port)
    assert {state for _, state in states(machine).values()} == {"inactive"}
    machine.run(f"systemctl start {SERVICE}")
    assert sorted(listening(machine)) == [80, 443, 8443]
    assert serves(machine, 443)


@pytest.mark.parametrize("address", ["0.0.0.0:9443", "127.0.0.1:8443", "[::]:8443"])
def test_another_listen_takes_the_place_of_the_stored_socket(machine, address):
    machine.path(CONFIGURATION).write_text(f"listen = {address}\n")
    machine.run(f"systemctl restart {SERVICE}")
    port = int(address.rsplit(":", 1)[1])
    assert serves(machine, port)
    assert port == 8443 or refuses(machine, 8443)
    assert "closed the former listener: the setting has changed" in log(machine)
    before = listening(machine)
    machine.run(f"systemctl restart {SERVICE}")
    assert serves(machine, port) and listening(machine) == before


def test_a_socket_of_the_technicians_own_is_used_or_named(machine):
    for name, listens in (("own", "ListenStream=127.0.0.1:7443"), ("wrong", "ListenDatagram=127.0.0.1:7444")):
        machine.path(f"/etc/systemd/system/{name}.socket").write_text(
            f"[Unit]\nStopWhenUnneeded=yes\n[Socket]\n{listens}\nService={SERVICE}\n[Install]\nWantedBy={SERVICE}\n")
    machine.run(f"systemctl daemon-reload && systemctl enable own.socket wrong.socket && systemctl restart {SERVICE}")
    assert serves(machine, 7443) and serves(machine)
    assert "ignored a socket of systemd that is no listening TCP socket: correct its unit" in log(machine)
    assert "from=wrong.socket" in log(machine)


def test_port_80_of_another_program_stops_nothing(booted, package):
    booted.path("/etc/systemd/system/other.socket").write_text("[Socket]\nListenStream=80\nAccept=yes\n")
    booted.path("/etc/systemd/system/other@.service").write_text("[Service]\nExecStart=/bin/true\n")
    booted.run("systemctl daemon-reload && systemctl start other.socket")
    code, said = booted.install(package)
    assert code == 0, said
    assert serves(booted)
    assert active(booted, SETUP) == "failed"


def program(machine):
    return hashlib.sha256(machine.path("/usr/bin/comanda").read_bytes()).hexdigest()


def test_a_program_that_refuses_is_put_back(machine, repack):
    before = version(machine), program(machine), pid(machine), states(machine), listening(machine)
    code, said = machine.install(repack("9.0", {"usr/bin/comanda": REFUSING}))
    assert code != 0 and "live.db cannot be read by this program" in said, said
    assert (version(machine), program(machine), pid(machine), states(machine), listening(machine)) == before
    assert serves(machine) and not machine.path("/run/comanda.stopped").exists()


def test_a_downgrade_restarts_and_keeps(machine, repack):
    before, process = states(machine), pid(machine)
    assert machine.install(repack("0.0.1"))[0] == 0
    assert version(machine) == "ii  0.0.1" and states(machine) == before
    assert serves(machine) and pid(machine) != process


def test_remove_purge_and_installation_again(machine, package):
    machine.run(f"systemctl enable {HTTPS} && systemctl restart {SERVICE} && systemctl disable {SETUP}")
    machine.run("apt-get -q -y remove comanda")
    assert listening(machine) == {} and not machine.path("/usr/bin/comanda").exists()
    assert machine.run("systemctl --failed --no-legend") == ""
    assert machine.install(package)[0] == 0
    assert states(machine) == {SERVICE: ("enabled", "active"), SETUP: ("disabled", "inactive"), HTTPS: ("enabled", "active")}

    machine.run("apt-get -q -y purge comanda")
    assert listening(machine) == {}
    assert machine.run("find /etc/systemd /run/systemd/system /var/lib/systemd -name '*comanda*'") == ""
    assert machine.install(package)[0] == 0
    assert states(machine) == {SERVICE: ("enabled", "active"), SETUP: ("enabled", "active"), HTTPS: ("disabled", "inactive")}
    assert serves(machine)


def test_the_tarball_restarts_the_server_alone(booted, tarball):
    booted.copy(tarball, "/srv/comanda.tar.gz")
    booted.run("mkdir /srv/tree && tar -C /srv/tree --strip-components=1 -xzf /srv/comanda.tar.gz && /srv/tree/install.sh")
    installed = {SERVICE: ("enabled", "active"), SETUP: ("enabled", "active"), HTTPS: ("disabled", "inactive")}
    assert states(booted) == installed and serves(booted)
    process, sockets = pid(booted), listening(booted)
    booted.run("/srv/tree/install.sh")
    assert states(booted) == installed and listening(booted) == sockets
    assert pid(booted) != process and serves(booted)
    booted.run("/srv/tree/install.sh --remove")
    assert listening(booted) == {}


def backups(machine, directory="/var/backups/comanda"):
    return machine.run(f"ls -d {directory}/comanda-*").split()


def test_the_backup_unit_works_in_its_sandbox_and_a_restore_changes_places_under_the_service(machine):
    assert (enabled(machine, "comanda-backup.timer"), active(machine, "comanda-backup.timer")) == ("enabled", "active")
    machine.run("systemctl start comanda-backup")
    (backup,) = backups(machine)
    before, process = states(machine), pid(machine)
    machine.run("comanda keys create --name later --scopes menu:read")

    said = machine.run(f"comanda restore {backup} --yes")
    assert "the service runs" in said and serves(machine) and pid(machine) != process
    assert states(machine) == before and "later" not in machine.run("comanda keys list")

    (former,) = machine.run("ls -d /var/lib/comanda.before-restore-*").split()
    machine.run(f"comanda restore {former} --yes")
    assert serves(machine) and "later" in machine.run("comanda keys list")
    machine.run("systemctl start comanda-backup")
    assert len(backups(machine)) == 2 and machine.run("systemctl --failed --no-legend") == ""


def test_the_backup_unit_reaches_a_disk_that_is_mounted_and_names_one_that_is_not(machine):
    """The step of systemd/README.md, then the unit."""
    machine.run("mkdir -p /media/usb && mount -t tmpfs -o mode=755 tmpfs /media/usb")
    machine.run("comanda config set backup_to /media/usb/comanda && comanda backup")
    machine.run("systemctl start comanda-backup")
    assert len(backups(machine, "/media/usb/comanda")) == 2
    machine.run("umount /media/usb")
    status, _ = machine.try_run("systemctl start comanda-backup")
    said = machine.run("journalctl --no-pager -q -o cat -u comanda-backup.service")
    assert status != 0 and "the disk with the backups is not mounted on /media/usb any more" in said, said
    assert machine.run("ls -A /media/usb") == "" and "BROKEN   backup" not in machine.try_run("comanda doctor")[1]
    assert "/media/usb" in machine.try_run("comanda doctor")[1] and serves(machine)


def warnings(machine):
    """{the finding: its commands} of the doctor's check of the units."""
    report = json.loads(machine.try_run("comanda doctor --json")[1])
    return {found["what"]: found["command"] for found in report["findings"] if (found["check"], found["state"]) == ("units", "warning")}


def test_the_doctor_names_units_that_are_not_as_they_should_be(machine):
    """With commands that mend them as they stand."""
    assert warnings(machine) == {}
    for spoil in ("systemctl disable --now comanda-backup.timer", "systemctl stop comanda-backup.timer",
                  "systemctl mask --now comanda-backup.timer", f"systemctl disable {SETUP} && systemctl restart {SERVICE}"):
        machine.run(spoil)
        ((what, command),) = warnings(machine).items()
        machine.run(command)
        assert warnings(machine) == {}, (spoil, what, command)
    # Another program has port 80.
    machine.run(f"systemctl stop {SERVICE} && systemd-run --quiet --unit=other --socket-property=ListenStream=80 true")
    machine.run(f"systemctl start {SERVICE}")
    ((what, command),) = warnings(machine).items()
    assert f"{SETUP} has failed" in what and "ss -ltnp 'sport = :80'" in command
    machine.run(f"systemctl stop other.socket && systemctl restart {SERVICE}")
    assert warnings(machine) == {}
