"""A LAN of several machines on this one: each has network, mounts and host name of its own (namespaces), its own avahi, and
a cable to a common switch. Needs root."""

import pathlib
import subprocess
import tempfile

from support.box import PATIENCE_S, ROOT, Box
from support.waiting import wait_until

AVAHI_CONF = """[server]
use-ipv6=no
allow-interfaces=eth0
[publish]
publish-workstation=no
publish-hinfo=no
"""
SERVICE_FILE = ROOT / "systemd/comanda.avahi"
# What each machine has to itself: the sockets of avahi and dbus, and the services that its avahi announces.
PRIVATE = "/run/avahi-daemon /run/dbus /etc/avahi/services"


class Machine:
    """A machine with the address 10.77.0.`number`; `lan` is None for the switch, which has none."""

    def __init__(self, lan, name, number):
        self.lan, self.address, self.processes = lan, f"10.77.0.{number}", []
        self.scratch = tempfile.TemporaryDirectory(prefix="comanda-lan-", dir="/tmp")
        script = f"mkdir -p {PRIVATE}; for d in {PRIVATE}; do mount -t tmpfs -o mode=755 tmpfs $d; done; echo; exec sleep infinity"
        self.namespaces = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "-n", "-m", "-u", "--propagation", "private", "sh", "-c", script],
            stdout=subprocess.PIPE)
        self.namespaces.stdout.readline()
        self.set_host_name(name)
        self.run("ip", "link", "set", "lo", "up")
        if lan is not None:
            lan.connect(self)
            self.run("ip", "address", "add", f"{self.address}/24", "brd", "+", "dev", "eth0")
            self.run("ip", "link", "set", "eth0", "up")
            self.run("ip", "route", "add", "default", "dev", "eth0")

    @property
    def entering(self):
        return ["nsenter", "-t", str(self.namespaces.pid), "-n", "-m", "-u"]

    def run(self, *words, check=True, timeout=PATIENCE_S * 4, **more):
        done = subprocess.run([*self.entering, *map(str, words)], capture_output=True, text=True, timeout=timeout, **more)
        assert not check or done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
        return done

    def spawn(self, *words, **more):
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *self.entering, *map(str, words)], **more)
        self.processes.append(process)
        return process

    def set_host_name(self, name):
        self.run("hostname", name)

    def set_address(self, number):
        """As the router would give another one."""
        former, self.address = self.address, f"10.77.0.{number}"
        self.run("ip", "address", "del", f"{former}/24", "dev", "eth0")
        self.run("ip", "address", "add", f"{self.address}/24", "brd", "+", "dev", "eth0")
        self.run("ip", "route", "replace", "default", "dev", "eth0")

    def start_avahi(self, *services):
        """With the files of services that it announces."""
        for service in services:
            self.run("cp", service, f"/etc/avahi/services/{pathlib.Path(service).stem}.service")
        conf = pathlib.Path(self.scratch.name) / "avahi.conf"
        conf.write_text(AVAHI_CONF)
        self.run("dbus-daemon", "--system", "--fork", "--nopidfile")
        self.avahi = self.spawn("avahi-daemon", "-f", conf, "--no-drop-root", "--no-chroot", "--no-rlimits", "--no-proc-title",
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_look(lambda: self.run("test", "-S", "/run/avahi-daemon/socket", check=False).returncode == 0, "avahi's socket")

    def stop_avahi(self):
        self.run("avahi-daemon", "--kill", check=False)
        self.avahi.wait(PATIENCE_S)

    def resolve(self, name):
        """The address that programs of this machine get for the name; "" if none."""
        words = self.run("getent", "ahostsv4", name, check=False).stdout.split()
        return words[0] if words else ""

    def close(self):
        for pid in self.run("sh", "-c", "for p in /proc/[0-9]*; do [ \"$(readlink $p/ns/net)\" = \"$(readlink /proc/self/ns/net)\" ] && "
                            "echo ${p#/proc/}; done", check=False).stdout.split():
            subprocess.run(["kill", "-KILL", pid], capture_output=True)
        for process in (*self.processes, self.namespaces):
            process.wait(PATIENCE_S)
        self.scratch.cleanup()


class Lan:
    """The switch, and the machines that are connected to it."""

    def __init__(self):
        self.machines = []
        self.switch = Machine(None, "switch", 0)
        self.switch.run("ip", "link", "add", "bridge", "type", "bridge")
        self.switch.run("ip", "link", "set", "bridge", "up")

    def connect(self, machine):
        port = f"port{len(self.machines)}"
        self.switch.run("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", machine.namespaces.pid)
        self.switch.run("ip", "link", "set", port, "master", "bridge", "up")

    def machine(self, name):
        made = Machine(self, name, 10 + len(self.machines))
        self.machines.append(made)
        return made

    def close(self):
        for machine in (*self.machines, self.switch):
            machine.close()


class LanBox(Box):
    """The server on a machine of the LAN."""

    def __init__(self, machine, port=8443, **more):
        super().__init__(**more)
        self.machine, self.wrapper, self.address, self.port = machine, machine.entering, "0.0.0.0", port

    def command(self, *words, check=True):
        done = self.machine.run(self.binary, *words, check=False)
        assert not check or done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
        return done

    def wait_for_log(self, words):
        wait_for_look(lambda: words in self.log_text(), lambda: f"{words!r} is not in the log:\n{self.log_text()[-3000:]}")

    def wait_ready(self):
        wait_for_look(lambda: self.machine.run("curl", "-sk", f"https://127.0.0.1:{self.port}/healthz", check=False).returncode == 0,
                      lambda: "the server does not answer:\n" + self.log_text())


def wait_for_look(condition, what):
    """As wait_until(), a minute longer: that often the box looks at its names and addresses."""
    return wait_until(condition, what, 60 + PATIENCE_S)
