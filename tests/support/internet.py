"""An internet of a test's own, in which hosts have their real names: a machine for the box, whose file of hosts names them,
and one that has all their addresses (network namespaces). The program under test is the unmodified one, and nothing in its
settings moves a host. Needs root."""

import contextlib
import ctypes
import os
import pathlib

from support.lan import Lan

CLONE_NEWNET = 0x40000000
LIBC = ctypes.CDLL(None, use_errno=True)


@contextlib.contextmanager
def joined(machine):
    """The calling thread, and what it starts, is in the network of that machine."""
    here = os.open(f"/proc/self/task/{LIBC.gettid()}/ns/net", os.O_RDONLY)
    there = os.open(f"/proc/{machine.namespaces.pid}/ns/net", os.O_RDONLY)
    try:
        if LIBC.setns(there, CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns")
        yield
    finally:
        LIBC.setns(here, CLONE_NEWNET)
        os.close(there)
        os.close(here)


class Internet:
    """`hosts`: {name: address}."""

    def __init__(self, hosts):
        self.lan = Lan()
        self.box, self.servers = self.lan.machine("box"), self.lan.machine("servers")
        for address in set(hosts.values()):
            self.servers.run("ip", "address", "add", f"{address}/32", "dev", "eth0")
        file = pathlib.Path(self.box.scratch.name) / "hosts"
        file.write_text("127.0.0.1 localhost\n" + "".join(f"{address} {name}\n" for name, address in hosts.items()))
        self.box.run("mount", "--bind", file, "/etc/hosts")

    def close(self):
        self.lan.close()
