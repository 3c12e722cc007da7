"""A head office on loopback: the settings that systemd/head-office ships, filled in for three machines with addresses of
their own in 127.0.0.0/8. Each machine has etcd, Patroni with PostgreSQL and HAProxy; the first two have comanda-head.

Everything belongs to the user who runs the tests, or to postgres where that is root, whom PostgreSQL refuses."""

import contextlib
import getpass
import http.client
import json
import os
import pathlib
import random
import re
import secrets
import shutil
import signal
import ssl
import subprocess
import tempfile
import threading
import urllib.error
import urllib.request

from support.box import ROOT, Client
from support.waiting import PATIENCE_S, wait_until

SHIPPED = ROOT / "systemd/head-office"
HEAD = pathlib.Path(os.environ.get("COMANDA_HEAD_BINARY", ROOT / "build/release/comanda-head")).resolve()
USER = "postgres" if os.geteuid() == 0 else getpass.getuser()
NODES = {"node1": 11, "node2": 12, "node3": 13}  # the addresses' last numbers, as in the shipped files
HEADS = ("node1", "node2")
OFFICE_PORT = 8444  # in place of 443, which needs root
# A failover takes the 15 s of Patroni's ttl and some more; machines are noisy.
FAILOVER_MAX_S = max(float(os.environ.get("FMAX", "90")), PATIENCE_S)


def free_network():
    """The beginning of 255 addresses of this machine that no other head office has."""
    return f"127.{random.SystemRandom().randrange(16, 250)}.{random.SystemRandom().randrange(250)}."


def newest_postgresql():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/postgres"), key=lambda path: int(path.parts[-3]))
    assert found, "no PostgreSQL: scripts/bootstrap test"
    return found[-1].parent


def as_user(words):
    return ["setpriv", f"--reuid={USER}", f"--regid={USER}", "--init-groups", "--", *words] if os.geteuid() == 0 else words


class Program:
    """A process that is started again with the same words."""

    def __init__(self, words, log, environment=None, machine_id=None):
        """`machine_id`: a file that the process sees in the place of /etc/machine-id, where the tests may do that."""
        self.words, self.log = as_user([str(word) for word in words]), log
        if machine_id and os.geteuid() == 0:
            self.words = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/machine-id && exec "$@"', machine_id, *self.words]
        self.environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/", **(environment or {})}
        self.process = None

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.words, stdout=log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd="/",
                                            env=self.environment)

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def signal(self, number):
        if self.is_running():
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        if self.process:
            self.process.wait(PATIENCE_S)

    def text(self):
        return self.log.read_text(errors="replace") if self.log.exists() else ""


class Node:
    """One machine. What it runs is started, killed and stopped together or one by one."""

    def __init__(self, office, name):
        self.office, self.name = office, name
        self.address = office.network + str(NODES[name])
        self.home = office.directory / name
        self.data = self.home / "postgresql"
        for directory in ("", "run", "etcd", "spool", "log"):
            (self.home / directory).mkdir(mode=0o700)
        self.etcd = Program(["/usr/bin/etcd"], self.home / "etcd.log", self._etcd_settings())
        self.patroni = Program(["/usr/bin/patroni", self._put("patroni.yml", 0o600)], self.home / "patroni.log")
        self._put("pgbackrest.conf")
        self.head = None

    def fill(self, text):
        """A shipped file's text, for this machine of this test."""
        office = self.office
        replaced = {
            "10.0.0.0/24": "127.0.0.0/8", "10.0.0.": office.network, "NODE": self.name, "ADDRESS": self.address,
            "/etc/head-office/comanda-ca.crt": office.directory / "comanda-ca.crt",
            "/etc/head-office/": f"{self.home}/tls/", "/var/lib/postgresql/comanda": self.data,
            "/var/lib/postgresql/patroni.pgpass": self.home / "pgpass", "/run/postgresql": self.home / "run",
            "/usr/lib/postgresql/15/bin": newest_postgresql(), "/var/lib/etcd/head-office": self.home / "etcd",
            "/srv/pgbackrest": office.directory / "backups", "/var/spool/pgbackrest": self.home / "spool",
            "pgbackrest --stanza": f"pgbackrest --config={self.home}/pgbackrest.conf --stanza",
            # One machine is all three.
            "shared_buffers: 2GB": "shared_buffers: 64MB", "  mode: automatic": "  mode: off",
            **office.passwords,
        }
        for shipped, here in replaced.items():
            text = text.replace(shipped, str(here))
        if USER != "postgres":
            text = text.replace("local all postgres peer", f"local all {USER} peer").replace(
                "username: postgres", f"username: {USER}").replace("all postgres ", f"all {USER} ")
        return text

    def _put(self, name, mode=0o600):
        file = self.home / name
        text = self.fill((SHIPPED / name).read_text())
        if name == "pgbackrest.conf":
            text = text.replace("[global]\n", f"[global]\nlog-path={self.home}/log\nlock-path={self.home}/log\n")
        file.write_text(text)
        file.chmod(mode)
        return file

    def _etcd_settings(self):
        lines = self.fill((SHIPPED / "etcd").read_text()).splitlines()
        # All three come from 127.0.0.1, which is in nobody's certificate.
        return dict(line.split("=", 1) for line in lines if line and not line.startswith("#")) | {
            "ETCD_EXPERIMENTAL_PEER_SKIP_CLIENT_SAN_VERIFICATION": "true"}

    # PostgreSQL
    def is_primary(self):
        """As Patroni says, which answers 200 for the primary alone."""
        with contextlib.suppress(OSError):
            urllib.request.urlopen(f"https://{self.address}:8008/primary", context=self.office.tls, timeout=2)
            return True
        return False

    def postgres_pids(self):
        """The server's processes, its first one first."""
        try:
            first = int((self.data / "postmaster.pid").read_text().split()[0])
            children = pathlib.Path(f"/proc/{first}/task/{first}/children").read_text().split()
        except (OSError, ValueError, IndexError):
            return []
        return [first, *map(int, children)]

    def signal_machine(self, number):
        """To the processes of the database and of Patroni."""
        self.patroni.signal(number)
        for pid in self.postgres_pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill_machine(self):
        """The power goes: nothing is said to anybody."""
        pids = self.postgres_pids()
        self.patroni.kill()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def run(self, *words, check=True, input=None, **environment):
        """A program on this machine; what it printed."""
        done = subprocess.run(as_user([str(word) for word in words]), cwd="/", capture_output=True, text=True, input=input,
                              timeout=FAILOVER_MAX_S,
                              env={"PATH": f"{newest_postgresql()}:/usr/bin:/bin", "LC_ALL": "C", "HOME": "/", **environment})
        if check:
            assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def psql(self, script, database="comanda"):
        return self.run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", self.home / "run", "-U", USER, "-d", database, input=script)

    def pgbackrest(self, *words):
        return self.run("pgbackrest", f"--config={self.home}/pgbackrest.conf", "--stanza=comanda", *words)


class Head:
    """A comanda-head of a machine."""

    def __init__(self, node):
        self.node, self.office = node, node.office
        self.data = node.home / "head"
        self.port = 8443
        hosts = ",".join(node.office.network + str(number) for number in NODES.values())
        self.data.mkdir(mode=0o700)
        (self.data / "comanda.conf").write_text(
            f"database = host={hosts} dbname=comanda user=comanda sslmode=verify-full sslrootcert={node.home}/tls/ca.crt\n"
            f"database_password_file = {self.data}/password\n"
            f"listen = {node.address}:{self.port}\nhosts = {self.office.front}\n"
            f"proxy_networks = {','.join(node.office.network + str(number) for number in NODES.values())}\n")
        (self.data / "password").write_text(self.office.password + "\n")
        (self.data / "password").chmod(0o600)
        self.office.own(self.data)
        (node.home / "machine-id").write_text(secrets.token_hex(16) + "\n")
        (node.home / "machine-id").chmod(0o644)
        self.program = Program([HEAD, "serve", "--data", self.data], node.home / "head.log", machine_id=node.home / "machine-id")
        self.ends = []  # how each of its processes has ended

    def command(self, *words):
        return self.node.run(HEAD, *words, "--data", self.data)

    def start(self):
        self.program.start()
        threading.Thread(target=self._keep_running, daemon=True).start()

    def _keep_running(self):
        """As systemd does: whatever ends it, it starts again a second later."""
        while not self.office.closing.is_set():
            self.ends.append(self.program.process.wait())
            if not self.office.closing.wait(1):
                self.program.start()

    def ask(self, path, key=None):
        """(status, body) of this process itself, without HAProxy; (0, why) where it does not answer."""
        context = ssl.create_default_context(cafile=self.data / "tls/ca.crt")
        context.check_hostname = False
        request = urllib.request.Request(f"https://{self.node.address}:{self.port}{path}", 
                                         headers={"Host": "comanda.local", **({"Authorization": "Bearer " + key} if key else {})})
        try:
            with urllib.request.urlopen(request, context=context, timeout=2) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as answer:
            return answer.code, answer.read().decode()
        except OSError as why:
            return 0, str(why)

    def is_ready(self):
        return self.ask("/readyz")[0] == 200


class HeadOffice:
    """With `start()` it serves the demo restaurant; `key` may do everything there."""

    def __init__(self):
        assert HEAD.exists(), f"no {HEAD}: make head"
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="comanda-office-"))
        self.directory.chmod(0o711)
        self.network = free_network()
        self.front = self.network + "10"
        self.password = secrets.token_hex(16)
        self.passwords = {f"{name}_PASSWORD": secrets.token_hex(16) for name in ("SUPERUSER", "REPLICATION", "REWIND")}
        for name in ("backups", "proxy"):
            (self.directory / name).mkdir(mode=0o700)
        self.nodes = {name: Node(self, name) for name in NODES}
        self._make_certificates()
        self.tls = ssl.create_default_context(cafile=self.directory / "ca.crt")
        self.heads = [Head(self.nodes[name]) for name in HEADS]
        self.proxy = Program(["/usr/sbin/haproxy", "-db", "-f", self.directory / "haproxy.cfg"], self.directory / "haproxy.log")
        self.key = None
        self.closing = threading.Event()
        for path in self.directory.iterdir():
            self.own(path)

    def _make_certificates(self):
        machines = [f"{name}={node.address}" for name, node in self.nodes.items()]
        subprocess.run(["sh", SHIPPED / "certificates.sh", *machines, f"front={self.front}"], cwd=self.directory, check=True,
                       capture_output=True)
        for node in self.nodes.values():
            (node.home / "tls").mkdir()
            for name in ("ca.crt", "node.crt", "node.key"):
                shutil.move(node.home / name, node.home / "tls" / name)
        front = self.directory / "front"
        (self.directory / "office.pem").write_text((front / "node.crt").read_text() + (front / "node.key").read_text())

    def own(self, path):
        if os.geteuid() == 0:
            subprocess.run(["chown", "-R", f"{USER}:{USER}", path], check=True)

    def _put_proxy(self):
        text = self.nodes["node1"].fill((SHIPPED / "haproxy.cfg").read_text())
        # The test's user has neither the log nor the port, and no other user to become.
        text = re.sub(r"^    (user|group|chroot) .*\n", "", text, flags=re.M)
        text = text.replace("log /dev/log local0 notice", "log stdout format raw local0")
        text = text.replace("/run/haproxy/", f"{self.directory}/proxy/").replace("/etc/haproxy/office.pem", str(self.directory / "office.pem"))
        text = text.replace("bind :443", f"bind {self.front}:{OFFICE_PORT}")
        (self.directory / "haproxy.cfg").write_text(text)
        self.own(self.directory / "haproxy.cfg")

    # The machines
    def start_database(self):
        for node in self.nodes.values():
            node.etcd.start()
        wait_until(self._etcd_agrees, lambda: "etcd: " + self.nodes["node1"].etcd.text()[-2000:], FAILOVER_MAX_S)
        self.nodes["node1"].patroni.start()
        primary = self.wait_for_primary()
        primary.psql(f"CREATE ROLE comanda LOGIN PASSWORD '{self.password}';\nGRANT pg_monitor TO comanda;\n"
                     "CREATE DATABASE comanda OWNER comanda;\n", "postgres")
        primary.pgbackrest("stanza-create")
        for name in ("node2", "node3"):
            self.nodes[name].patroni.start()
        self.wait_for_standbys()

    def _etcd_agrees(self):
        node = self.nodes["node1"]
        with contextlib.suppress(OSError):
            context = ssl.create_default_context(cafile=node.home / "tls/ca.crt")
            context.load_cert_chain(node.home / "tls/node.crt", node.home / "tls/node.key")
            with urllib.request.urlopen(f"https://{node.address}:2379/health", context=context, timeout=2) as answer:
                return json.load(answer)["health"] == "true"
        return False

    def primary(self):
        return next((node for node in self.nodes.values() if node.is_primary()), None)

    def wait_for_primary(self):
        return wait_until(self.primary, lambda: "no primary: " + self.complaints(), FAILOVER_MAX_S)

    def members(self):
        """What Patroni says of each machine: {Member, Role, State, TL, …}."""
        return json.loads(self.patronictl("list", "-f", "json"))

    def wait_for_standbys(self):
        """Until one standby is synchronous, also in etcd, and both follow the primary."""
        def found():
            primary = self.primary()
            if not primary:
                return False
            streaming = primary.psql("SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'", "postgres").strip()
            # Without one in etcd nobody would become primary if this one failed now.
            return streaming == "2" and sorted(member["Role"] for member in self.members()) == ["Leader", "Replica", "Sync Standby"]
        wait_until(found, lambda: "no standbys: " + self.complaints(), FAILOVER_MAX_S)

    def patronictl(self, *words, input=None):
        node = self.nodes["node3"]
        return node.run("patronictl", "-c", node.home / "patroni.yml", *words, input=input)

    def complaints(self):
        logs = [program.log for node in self.nodes.values() for program in (node.patroni, node.etcd)] + \
            [head.program.log for head in self.heads]
        return "\n".join(f"== {log}\n{log.read_text(errors='replace')[-1500:]}" for log in logs if log.exists())

    # The service
    def start(self):
        self.start_database()
        first, second = self.heads
        first.command("import", str(ROOT / "src/app/demo.json"))
        self.key = json.loads(first.command("keys", "create", "--name", "test", "--scopes", "all", "--tier", "unlimited", "--json"))["key"]
        first.start()
        wait_until(lambda: (first.data / "tls/ca.crt").exists() and first.is_ready(),
                   lambda: f"comanda-head is not ready: {first.ask('/readyz')} " + first.program.text()[-3000:], FAILOVER_MAX_S)
        # Both are one server to those who trust it.
        shutil.copytree(first.data / "tls", second.data / "tls")
        self.own(second.data / "tls")
        second.start()
        wait_until(lambda: second.ask("/healthz")[0] == 200, lambda: second.program.text()[-3000:])
        shutil.copy(first.data / "tls/ca.crt", self.directory / "comanda-ca.crt")
        (self.directory / "comanda-ca.crt").chmod(0o644)
        self._put_proxy()
        self.start_proxy()
        return self

    def start_proxy(self):
        begin = len(self.proxy.text())
        self.proxy.start()
        # Until its first look at each server it takes all of them for ready.
        wait_until(lambda: "is DOWN" in self.proxy.text()[begin:] and self.answers(), lambda: "HAProxy: " + self.proxy.text()[-2000:])

    def answers(self):
        """Whether a server answers through HAProxy."""
        assert self.proxy.is_running(), self.proxy.text()[-2000:]
        with contextlib.suppress(OSError, http.client.HTTPException), contextlib.closing(self.client()) as client:
            return client.get("/readyz").status == 200

    def serving(self):
        return next((head for head in self.heads if head.is_ready()), None)

    def serving_now(self):
        return wait_until(self.serving, lambda: "nobody serves: " + self.complaints(), FAILOVER_MAX_S)

    def make_whole(self):
        """All machines are well, one server serves, and the other waits."""
        for node in self.nodes.values():
            if not node.etcd.is_running():
                node.etcd.start()
            if not node.patroni.is_running():
                node.patroni.start()
        self.wait_for_primary()
        self.wait_for_standbys()
        self.serving_now()
        wait_until(lambda: sorted(head.ask("/readyz")[0] for head in self.heads) == [200, 503],
                   lambda: "no standby: " + self.complaints(), FAILOVER_MAX_S)
        wait_until(self.answers, lambda: "HAProxy: " + self.proxy.text()[-2000:], FAILOVER_MAX_S)

    def switch_over(self):
        """As an administrator does it, who tries again where Patroni does not agree yet which standby is the synchronous one."""
        before = self.primary()
        wait_until(lambda: self._switch_over(before), lambda: "no switchover: " + self.complaints(), FAILOVER_MAX_S)

    def _switch_over(self, before):
        standby = next((member["Member"] for member in self.members() if member["Role"] == "Sync Standby"), None)
        if standby:
            self.patronictl("switchover", "--master", before.name, "--candidate", standby, "--force", "comanda")
        primary = self.primary()
        return primary and primary is not before

    def client(self, key=None):
        return FrontClient(self.front, OFFICE_PORT, key, self.directory / "ca.crt")

    def close(self):
        self.closing.set()
        programs = [self.proxy, *(head.program for head in self.heads), *(node.patroni for node in self.nodes.values()),
                    *(node.etcd for node in self.nodes.values())]
        for node in self.nodes.values():
            node.signal_machine(signal.SIGCONT)
            node.kill_machine()
        for program in programs:
            program.kill()
        shutil.rmtree(self.directory, ignore_errors=True)


class FrontClient(Client):
    """As one of a box, through HAProxy."""

    def __init__(self, address, port, key, cafile):
        super().__init__(port, key, str(cafile), address)
