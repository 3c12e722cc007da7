"""From installation to purge, in bare Debians with a stand-in for systemd (support/debian_root.py); test_systemd.py has what
needs the real one."""

import hashlib
import re
import struct
import subprocess

import pytest

UNIT = "comanda.service"
TIMER = "comanda-backup.timer"
REFUSING = """#!/bin/sh
if [ "$1 $2" = "config check" ]; then
  echo "comanda: live.db cannot be read by this program" >&2
  exit 70
fi
"""


def enabled(root):
    return root.try_run(f"systemctl is-enabled {UNIT}")[1].strip()


def timer(root):
    """Enabled or not, and running or not."""
    return root.try_run(f"systemctl is-enabled {TIMER}")[1].strip(), root.path(f"/run/{TIMER}.on").exists()


def pid(root):
    """Of the server, or nothing."""
    return root.try_run("pgrep -u comanda -x comanda")[1].strip()


def serves(root):
    return "200" == root.try_run("curl -sk -o /dev/null -w '%{http_code}' https://localhost:8443/healthz")[1]


def version(root):
    """dpkg's opinion: state and version."""
    return root.run("dpkg-query -W -f '${db:Status-Abbrev} ${Version}' comanda")


def program(root):
    return hashlib.sha256(root.path("/usr/bin/comanda").read_bytes()).hexdigest()


def restaurant(root):
    return root.run("setpriv --reuid=comanda --regid=comanda --init-groups comanda import demo")


def set_schema(root, number):
    """Writes the schema's number into the header of live.db, while no server runs."""
    with open(root.path("/var/lib/comanda/live.db"), "r+b") as file:
        file.seek(60)
        file.write(struct.pack(">I", number))


def test_an_installation_enables_and_starts(bare, package):
    status, said = bare.install(package)
    assert status == 0, said
    assert enabled(bare) == "enabled"
    assert bare.calls() == [f"restart {UNIT}", f"start {TIMER}"]
    assert timer(bare) == ("enabled", True)
    assert bare.run("stat -c '%U %a' /var/backups/comanda").strip() == "comanda 700"
    assert pid(bare) and serves(bare)
    assert bare.run("stat -c '%U %a' /var/lib/comanda").strip() == "comanda 700"
    assert bare.run("dpkg -V comanda") == ""
    assert bare.run("dpkg-query -W -f '${Conffiles}' comanda").split()[0::2] == ["/etc/avahi/services/comanda.service"]


@pytest.mark.parametrize("state", ["enabled", "disabled", "masked"])
@pytest.mark.parametrize("running", [True, False])
def test_an_upgrade_keeps_the_state(box, later, state, running):
    if not running:
        box.run(f"systemctl stop {UNIT}")
    if state == "disabled":
        box.run(f"systemctl disable {UNIT}")
    if state == "masked":
        # As `systemctl mask` does.
        box.run(f"ln -sf /dev/null /etc/systemd/system/{UNIT}")
    assert enabled(box) == state
    before = pid(box)
    box.calls()

    status, said = box.install(later)

    assert status == 0, said
    assert version(box) == "ii  9.0"
    assert enabled(box) == state
    if state == "masked":
        # systemd does not restart a masked unit, so the old process keeps running until it gets a signal.
        assert bool(pid(box)) == running
    else:
        assert serves(box) == running and (pid(box) != before) == running
    # The server alone: a socket that is restarted refuses connections meanwhile.
    assert set(box.calls()) <= {f"start {TIMER}"} | ({f"restart {UNIT}"} if running else set())


@pytest.mark.parametrize("enabled_before", [True, False])
@pytest.mark.parametrize("running", [True, False])
def test_an_upgrade_keeps_the_state_of_the_timer(box, later, enabled_before, running):
    if not enabled_before:
        box.run(f"systemctl disable {TIMER}")
    if not running:
        box.run(f"systemctl stop {TIMER}")
    before = timer(box)
    assert before == ("enabled" if enabled_before else "disabled", running)
    status, said = box.install(later)
    assert status == 0 and timer(box) == before, said
    assert serves(box)


def test_what_the_timer_starts_makes_a_backup_as_the_services_user(box):
    restaurant(box)
    box.run("setpriv --reuid=comanda --regid=comanda --init-groups env -i "
            "$(sed -n 's/^ExecStart=//p' /usr/lib/systemd/system/comanda-backup.service)")
    (backup,) = box.run("ls /var/backups/comanda").split()
    assert re.fullmatch(r"comanda-000001-\d{8}T\d{6}Z", backup)
    box.run(f"comanda verify /var/backups/comanda/{backup}")
    said = box.run("apt-get -q -y purge comanda")
    assert "rm -rf /var/backups/comanda" in said and box.path(f"/var/backups/comanda/{backup}/live.db").exists()


def test_an_upgrade_keeps_a_changed_conffile_and_the_data(box, later):
    first = restaurant(box)
    conffile = box.path("/etc/avahi/services/comanda.service")
    conffile.write_text(conffile.read_text().replace("8443", "9443"))
    # The same file in the later package: dpkg does not ask.
    assert box.install(later)[0] == 0
    assert "9443" in conffile.read_text()
    assert serves(box)
    assert restaurant(box) != first


def went_on(box, before, status, said, reason):
    """The upgrade has failed, with the reason, and nothing has changed."""
    assert status != 0 and reason in said, said
    assert (version(box), program(box), pid(box)) == before, said
    assert serves(box)
    assert box.calls() == []
    assert not box.path("/run/comanda.stopped").exists()


def test_a_program_that_refuses_is_put_back(box, repack):
    before = version(box), program(box), pid(box)
    status, said = box.install(repack("9.0", {"usr/bin/comanda": REFUSING}))
    went_on(box, before, status, said, "live.db cannot be read by this program")
    # apt goes on working.
    box.run("dpkg --audit && apt-get check")


def test_a_setting_that_the_new_program_refuses_is_found_before_the_restart(box, later):
    before = version(box), program(box), pid(box)
    box.path("/var/lib/comanda/comanda.conf").write_text("listn = 0.0.0.0:8443\n")
    status, said = box.install(later)
    went_on(box, before, status, said, "did you mean listen?")
    box.path("/var/lib/comanda/comanda.conf").unlink()
    assert box.install(later)[0] == 0
    assert version(box) == "ii  9.0" and serves(box)


def test_a_program_that_is_older_than_the_database_is_refused(box, repack):
    restaurant(box)
    box.run(f"systemctl stop {UNIT}")
    set_schema(box, 99)
    before = version(box), program(box)
    status, said = box.install(repack("0.0.1"))
    assert status != 0 and "live.db has schema 99" in said, said
    assert (version(box), program(box)) == before


def test_a_program_that_is_older_and_knows_the_database_is_installed(box, repack):
    assert box.install(repack("0.0.1"))[0] == 0
    assert version(box) == "ii  0.0.1" and serves(box)


def test_removal_stops_and_keeps_the_data_and_the_state(box, package):
    restaurant(box)
    box.run(f"systemctl disable {UNIT}")
    box.calls()
    box.run("apt-get -q -y remove comanda")
    assert box.calls() == [f"stop {UNIT} comanda-setup.socket {TIMER} comanda-https.socket"]
    assert not timer(box)[1]
    assert not pid(box) and not box.path("/usr/bin/comanda").exists()
    assert box.path("/var/lib/comanda/live.db").exists()
    assert box.install(package)[0] == 0
    assert enabled(box) == "disabled" and not pid(box)


def test_purge_leaves_the_data_and_says_how_to_remove_them(box, package):
    restaurant(box)
    authority = box.path("/var/lib/comanda/tls/ca.crt").read_bytes()
    said = box.run("apt-get -q -y purge comanda")
    assert "rm -rf /var/lib/comanda; userdel comanda" in said
    assert not pid(box)
    assert box.path("/var/lib/comanda/live.db").exists()
    left = box.run("find / -xdev -name '*comanda*' -not -path '/srv/*' -not -path '/var/lib/comanda*' -not -path '/proc/*' "
                   "-not -path '/var/log/*' -not -path '/var/cache/*'")
    assert left == ""

    assert box.install(package)[0] == 0
    assert serves(box) and enabled(box) == "enabled"
    assert box.path("/var/lib/comanda/tls/ca.crt").read_bytes() == authority


def test_settings_that_are_wrong_before_the_first_start_are_named(bare, package):
    bare.run("mkdir /var/lib/comanda")
    bare.path("/var/lib/comanda/comanda.conf").write_text("listn = 0.0.0.0:8443\n")
    status, said = bare.install(package)
    assert status != 0 and "did you mean listen?" in said and "dpkg --configure comanda" in said
    bare.path("/var/lib/comanda/comanda.conf").unlink()
    bare.run("chown comanda:comanda /var/lib/comanda; chmod 700 /var/lib/comanda; dpkg --configure comanda")
    assert serves(bare)


def test_a_package_for_another_architecture_is_refused(bare, package, repack):
    control = subprocess.run(["dpkg-deb", "-f", package], check=True, capture_output=True, text=True).stdout
    other = repack("9.0", {"DEBIAN/control": re.sub("Architecture: .*", "Architecture: riscv64", control)})
    status, said = bare.install(other)
    assert status != 0, said
    assert not bare.path("/usr/bin/comanda").exists()
