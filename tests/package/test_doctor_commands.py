"""What `comanda doctor` says to type, typed as it stands: faults are planted one at a time on a machine with its systemd that
runs, is stopped, was restored or was upgraded; a till sells meanwhile if the server runs, and each line of `do:` of what is
found is given to a shell. Then the finding is gone, or another one is there, and the server has every order."""

import json
import os
import re

import pytest

from support.sample import sample
from support.waiting import wait_until

UNIT = "comanda.service"
DATA = "/var/lib/comanda"
AVAHI = "/etc/avahi/services/comanda.service"
KEY = re.compile(r"cmd_live_\w+")
PASSPHRASE = "/etc/passphrase"
REPLACE = "cp -p /usr/bin/comanda /usr/bin/comanda.new && mv /usr/bin/comanda.new /usr/bin/comanda"

FORGET = f"comanda config unset backup_passphrase_file webhook_ca cloud_ca_file tls_certificate tls_key; rm -f {PASSPHRASE}* /etc/comanda-*"


def named(setting, then, file=PASSPHRASE):
    """A file that a setting names, without the look at it of `comanda config set`."""
    return (f"head -c 15 /dev/urandom | base64 >{file}; chmod 600 {file}; chown comanda: {file}; "
            f"echo '{setting} = {file}' >>{DATA}/comanda.conf; {then.format(file=file)}")


# What is planted, the check that must find it, words of its finding, and what puts the rest in order again, where what is typed
# leaves something else. Backups go to a disk on /media/usb.
PLANTED = {
    "the server is stopped": (f"systemctl stop {UNIT}", "service", "No server runs", ""),
    "the service is not enabled": (f"systemctl disable {UNIT}", "service", "not enabled", ""),
    "the service is masked and stopped": (f"systemctl stop {UNIT}; systemctl mask {UNIT}", "service", "No server runs",
                                          f"systemctl unmask {UNIT}; systemctl enable {UNIT}"),
    "the service is masked": (f"systemctl mask {UNIT}", "service", "is masked", ""),
    "the program was replaced": (REPLACE, "program", "was replaced", ""),
    "the server listens inside the machine alone": (
        f"comanda config set listen 127.0.0.1:8443; systemctl restart {UNIT}", "ports", "listens on 127.0.0.1:8443 alone",
        f"comanda config unset listen; systemctl restart {UNIT}"),
    "the directory belongs to root": (f"chown root: {DATA}", "files", "belongs to root", ""),
    "the directory belongs to somebody": (f"chown -R 4711:4711 {DATA}", "files", "belongs to user 4711", ""),
    "a database belongs to root": (f"chown root: {DATA}/live.db", "files", "belong to the owner", ""),
    "credentials belong to root": (f"install -d -m 700 {DATA}/credentials", "files", "such as /var/lib/comanda/credentials", ""),
    "a database is read-only": (f"chmod 400 {DATA}/live.db", "files", "keeps the server from using", ""),
    "the directory has no mode": (f"chmod 000 {DATA}", "files", "The mode of /var/lib/comanda", ""),
    "keys are readable": (f"chmod 644 {DATA}/tls/*.key", "files", "other users may read", ""),
    "the directory is readable": (f"chmod 755 {DATA}", "files", "may look into", ""),
    "the announcement is missing": (f"rm {AVAHI}", "name", "comanda.service is missing", ""),
    "the announcement has another port": (f"sed -i 's/8443/443/' {AVAHI}", "name", "announces another port", ""),
    "the host name is none": ("echo 'La Mar' >/proc/sys/kernel/hostname", "name", "cannot be used on a network", ""),
    "a backup is old": ("cd /media/usb/comanda && mv comanda-* comanda-000001-20250101T000000Z", "backups", "days ago", ""),
    "the directory of the disk is missing": ("rm -rf /media/usb/comanda", "backups", "does not exist on the disk", ""),
    "the disk is not mounted": ("umount /media/usb", "backups", "not mounted on /media/usb any more", ""),
    "no backups are wanted": ("comanda config set backup_to ''", "backups", "backup_to is empty",
                              "comanda config set backup_to /media/usb/comanda"),
    "the directory on the own disk is missing": (
        "comanda config unset backup_to; rmdir /var/backups/comanda", "backups", "which does not exist",
        "comanda config set backup_to /media/usb/comanda"),
    "the disk belongs to root": ("chown root: /media/usb/comanda", "backups", "may not write there", ""),
    "the disk is closed": ("chmod 700 /media/usb", "backups", "may not enter /media/usb", ""),
    "a backup lost a file": ("rm $(ls -d /media/usb/comanda/comanda-* | tail -1)/live.db", "backups", "damaged or incomplete", ""),
    "the timer is disabled": ("systemctl disable --now comanda-backup.timer", "units", "timer is disabled", ""),
    "the timer is stopped": ("systemctl stop comanda-backup.timer", "units", "timer is enabled and does not run", ""),
    "the timer is masked": ("systemctl mask --now comanda-backup.timer", "units", "timer is masked", ""),
    "the nightly backup is masked": ("systemctl mask comanda-backup.service", "units", "service is masked", ""),
    "port 80 is disabled": ("systemctl disable comanda-setup.socket", "units", "setup.socket is disabled", ""),
    "the passphrase is missing": (named("backup_passphrase_file", "rm {file}"), "settings", "which is missing", FORGET),
    "the passphrase belongs to root": (named("backup_passphrase_file", "chown root: {file}"), "settings", "may not read", FORGET),
    "the passphrase is short": (named("backup_passphrase_file", "echo x >{file}"), "settings", "which cannot be used", FORGET),
    "the passphrase lies with root": (named("backup_passphrase_file", "chmod 700 /root", "/root/passphrase"), "settings", "/root",
                                      FORGET + "; rm -f /root/passphrase"),
    "the receivers' authorities are missing": (named("webhook_ca", "rm {file}"), "settings", "which is missing", FORGET),
    "the cloud's authorities are none": (named("cloud_ca_file", "true"), "settings", "which cannot be used", FORGET),
    "the certificate is missing": (
        named("tls_key", f"rm {{file}}; echo 'tls_certificate = {PASSPHRASE}' >>{DATA}/comanda.conf"), "settings",
        "tls_certificate names", FORGET),
    "there is no restaurant": (f"systemctl stop {UNIT}; mkdir -p {DATA}.kept; mv {DATA}/live.db* {DATA}.kept; "
                               f"rm -f {DATA}/served {DATA}/tls/server.crt", "database", "no restaurant yet",
                               f"systemctl stop {UNIT}; rm {DATA}/live.db*; mv {DATA}.kept/* {DATA}; chown -R comanda: {DATA}; "
                               f"systemctl start {UNIT}"),
    "the directory is missing": (f"systemctl stop {UNIT}; mv {DATA} {DATA}.away", "files", "There is no", f"""
        systemctl stop {UNIT}; rm -rf {DATA}; mv {DATA}.away {DATA}; systemctl start {UNIT}"""),
}
# What is typed then makes an empty restaurant, which does not know the till.
EMPTIED = {"there is no restaurant", "the directory is missing"}


class Machine:
    def __init__(self, machine, disk):
        self.machine, self.disk, self.sold = machine, disk, {}
        self.key = KEY.search(machine.run("comanda keys create --name till --scopes orders:read,orders:write")).group(0)
        # What udev does.
        number = os.stat(disk.device).st_rdev
        machine.run(f"mknod {disk.device} b {os.major(number)} {os.minor(number)}; mkdir -p /dev/disk/by-uuid; "
                    f"ln -s {disk.device} /dev/disk/by-uuid/{disk.uuid}; mkdir -p /run/avahi-daemon; touch /run/avahi-daemon/socket")

    def findings(self):
        """{(check, what): command} of what is not well. Numbers that change by themselves are left out."""
        said = self.machine.try_run("comanda doctor --json")[1]
        return {(f["check"], re.sub(r"\d{4}-\d\d-\d\d[ \d:UTC]*", "DATE", f["what"])): f["command"] or ""
                for f in json.loads(said)["findings"] if f["state"] != "well"}

    def of(self, check, words):
        return {key: command for key, command in self.findings().items() if key[0] == check and words in key[1]}

    def type(self, command):
        """Each line as it stands. What they say."""
        return [f"$ {line}\n{self.machine.try_run(line)}" for line in command.splitlines()]

    def answers(self):
        return self.machine.try_run("curl -sk -o /dev/null https://localhost:8443/healthz")[0] == 0

    def sell(self):
        """An order, if the server runs."""
        if not self.answers():
            return
        title = f"order {len(self.sold)}"
        answer = json.loads(self.machine.run(
            f"curl -sSk -H 'Authorization: Bearer {self.key}' -H 'Idempotency-Key: {title.replace(' ', '-')}' "
            "-H 'Content-Type: application/json' https://localhost:8443/v1/orders "
            f"""-d '{{"service_type":"TAKEAWAY","order_title":"{title}"}}'"""))
        assert "data" in answer, answer
        self.sold[answer["data"]["id"]] = title

    def has_all(self):
        said = self.machine.run("curl -sSk https://localhost:8443/v1/orders?per_page=100 "
                                f"-H 'Authorization: Bearer {self.key}'")
        return self.sold.items() <= {order["id"]: order["order_title"] for order in json.loads(said)["data"]}.items()


@pytest.fixture
def planted_in(machine, disk):
    box = Machine(machine, disk)
    machine.run(f"comanda disk use {disk.device} && comanda backup")
    return box


def bring_to(state, box, later):
    if state == "restored":
        box.machine.run("comanda restore $(ls -d /media/usb/comanda/comanda-* | tail -1) --yes")
        box.machine.run("comanda resume")
    elif state == "upgraded":
        status, said = box.machine.install(later)
        assert status == 0, said
    wait_until(box.answers, state)


@pytest.mark.parametrize("state", ["running", "stopped", "restored", "upgraded"])
def test_each_line_to_type_changes_what_is_found(planted_in, later, seed, state):
    box = planted_in
    bring_to(state, box, later)
    names = list(PLANTED)
    if state == "stopped":  # what can be seen then
        names = [name for name in names if PLANTED[name][1] in ("files", "backups", "units", "settings", "database")]
    if state != "running":
        names = [names[number - 1] for number in sample(len(names), 6, seed)]
    before = box.findings()
    wrong = []
    for name in names:
        plant, check, words, tidy = PLANTED[name]
        box.machine.run("systemctl reset-failed")  # units are started more often here than systemd allows
        assert box.of(check, words) == {}, (name, before)
        if state == "stopped":
            box.machine.run(f"systemctl stop {UNIT}")
        box.machine.run(plant)
        box.sell()
        found = box.of(check, words)
        if len(found) != 1:
            wrong.append((name, "not found", box.findings()))
        for key, command in found.items():
            said = box.type(command)
            if not command or key in box.findings():
                wrong.append((name, key, said))
        if name not in EMPTIED:
            box.sell()
        if tidy:
            assert box.machine.try_run(tidy)[0] == 0, (name, wrong, box.machine.try_run(f"journalctl -u {UNIT} -n 8"), box.findings())
        if state == "stopped":
            box.machine.run(f"systemctl start {UNIT}")
        wait_until(box.answers, name)
        if not box.has_all():
            wrong.append((name, "an order is missing", box.sold))
    assert not wrong, "\n".join(map(str, wrong))
    assert box.sold or state == "stopped"
    assert {key for key in box.findings() if not key[0] == "name"} <= set(before)


def test_a_clock_without_a_time_server_gets_one(planted_in):
    """The line that names apt, without a network: it is a package of the distribution."""
    commands = [c for (check, what), c in planted_in.findings().items() if check == "clock" and "not synchronised" in what]
    for command in commands:
        assert command.split("     #")[0] == "apt install systemd-timesyncd", command
    assert planted_in.machine.run("apt-cache policy systemd-timesyncd | sed -n 's/ *Candidate: //p'").strip() != "(none)"


def test_a_changed_host_name_asks_for_no_new_authority(planted_in):
    box = planted_in
    box.machine.run(f"echo caja-nueva >/proc/sys/kernel/hostname; systemctl restart {UNIT}")
    wait_until(box.answers, "the server is there")
    assert box.of("certificate", "") == {}
    assert "caja-nueva" in box.machine.run("comanda doctor; true")
    status, said = box.machine.try_run("comanda tls renew-authority")
    assert status == 2 and "--yes" in said, said
