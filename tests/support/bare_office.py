"""A head office on three bare Debians, and a box on a fourth, in a network of their own: what systemd/head-office/README.md
begins with. `play` runs the commands of one of its steps as they stand, with the names, addresses and passwords replaced as the
document says. Needs root and BootedRoot's kernel."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import secrets
import shutil
import subprocess
import tempfile

from support import documents
from support.debian_root import PACKAGES, BootedRoot
from support.waiting import PATIENCE_S, wait_until

# A machine to which one logs in, before step 1.
INSTALLED = PACKAGES + ",dbus,openssh-server,openssl,netbase"
# What step 2 installs, fetched beforehand: the machines have no way out.
AT_HAND = "postgresql-common postgresql patroni python3-idna etcd-server etcd-client pgbackrest haproxy cron rsync libpq5"
NODES = {"node1": "10.0.0.11", "node2": "10.0.0.12", "node3": "10.0.0.13"}
BOX = "10.0.0.21"
NAME = "cloud.chain.example"


def steps():
    """[text] of the ten steps."""
    found = re.split(r"^\d+\. ", documents.section(documents.OFFICE, "Ten steps to the first linked box"), flags=re.M)[1:]
    assert len(found) == 10
    return found


def blocks(step):
    """[script] of the lines of code of a step."""
    found, lines = [], []
    for line in [*step.split("\n"), "."]:
        if re.match(" {7}", line):
            lines.append(line[7:])
        elif lines and line.strip():
            found.append("\n".join(lines).rstrip())
            lines = []
    return found


class Machine(BootedRoot):
    def __init__(self, office, suite, name, address):
        self.office, self.name, self.address = office, name, address
        self.shares = (office.repository, "/srv/pgbackrest")
        super().__init__(suite, INSTALLED, AT_HAND)
        hosts = "".join(f"{a} {n}\n" for n, a in NODES.items()) + "".join(f"{a} {NAME}\n" for a in NODES.values())
        self.path("/etc/hosts").write_text("127.0.0.1 localhost\n" + hosts)

    def _set_up_network(self):
        super()._set_up_network()
        link = f"{self.office.bridge}-{self.address.rsplit('.', 1)[1]}"
        subprocess.run(["ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", self._inside], check=True)
        subprocess.run(["ip", "link", "set", link, "master", self.office.bridge, "up"], check=True)
        for words in (["addr", "add", f"{self.address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"]):
            subprocess.run([*self._enter("--net"), "ip", *words], check=True)

    def run(self, command, patience_s=4 * PATIENCE_S):
        done = subprocess.run([*self._within(), "/bin/sh", "-ec", "cd; " + command], stdin=subprocess.DEVNULL,
                              env={**os.environ, "HOME": "/root", "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive",
                                   "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=patience_s)
        assert done.returncode == 0, f"{self.name}: {command}\nstatus {done.returncode}: {done.stdout}"
        return done.stdout


class BareOffice:
    def __init__(self, suite):
        self.suite = suite
        self.everything = contextlib.ExitStack()
        # Below a directory that everybody may enter.
        self.repository = pathlib.Path(tempfile.mkdtemp(prefix="repository.", dir="/var/tmp"))
        self.everything.callback(shutil.rmtree, self.repository, ignore_errors=True)
        self.bridge = "of" + secrets.token_hex(3)
        self.machines, self.box = {}, None
        try:
            subprocess.run(["ip", "link", "add", self.bridge, "type", "bridge"], check=True)
            self.everything.callback(subprocess.run, ["ip", "link", "del", self.bridge])
            subprocess.run(["ip", "link", "set", self.bridge, "up"], check=True)
            for name, address in NODES.items():
                self.machines[name] = self._machine(name, address)
            self.box = self._machine("box", BOX)
        except BaseException:
            self.close()
            raise
        self.node1 = self.machines["node1"]
        self._let_one_another_in()
        self.replaced = {f"{what}_PASSWORD": secrets.token_hex(16) for what in ("SUPERUSER", "REPLICATION", "REWIND")}
        self.password = secrets.token_hex(16)

    def _machine(self, name, address):
        machine = Machine(self, self.suite, name, address)
        self.everything.callback(machine.close)
        return machine

    def close(self):
        self.everything.close()

    def _let_one_another_in(self):
        """As an administrator's machines do: root of each by the key of each."""
        for machine in self.machines.values():
            machine.run("mkdir -p -m 700 .ssh && ssh-keygen -q -t ed25519 -N '' -f .ssh/id_ed25519; systemctl start ssh")
        known = "".join(m.run("cat .ssh/id_ed25519.pub") for m in self.machines.values())
        for machine in self.machines.values():
            machine.path("/root/.ssh/authorized_keys").write_text(known)
            machine.path("/root/.ssh/config").write_text("StrictHostKeyChecking accept-new\nLogLevel ERROR\n")

    def said(self, script, machine, **replaced):
        """The commands as an administrator types them on this machine."""
        script = re.sub(r"s/NODE/node1/; s/ADDRESS/10\.0\.0\.11/", f"s/NODE/{machine.name}/; s/ADDRESS/{machine.address}/", script)
        script = script.replace("set-hostname node1", f"set-hostname {machine.name}")
        for what, password in self.replaced.items():
            script = script.replace(f"s/{what}/…/", f"s/{what}/{password}/")
        for what, becomes in replaced.items():
            assert what in script, (what, script)
            script = script.replace(what, becomes)
        script = script.replace("'…'", f"'{self.password}'")
        assert "…" not in script, script
        return script

    def play(self, script, *names, **replaced):
        def on(name):
            return self.machines[name].run(self.said(script, self.machines[name], **replaced), 8 * PATIENCE_S)

        with concurrent.futures.ThreadPoolExecutor() as administrators:
            return list(administrators.map(on, names))[-1]

    def members(self):
        """[(name, role, state)] as Patroni shows them."""
        status, said = self.node1.try_run("patronictl -c /etc/patroni/config.yml list -f json 2>/dev/null")
        known = json.loads(said or "[]") if status == 0 else []
        return sorted((one["Member"], one["Role"], one["State"]) for one in known)

    def wait_for_members(self):
        """Until one leads, one follows synchronously and one otherwise."""
        wait_until(lambda: sorted(role for _, role, state in self.members() if state in ("running", "streaming")) ==
                   ["Leader", "Replica", "Sync Standby"], lambda: str(self.members()), 6 * PATIENCE_S)
