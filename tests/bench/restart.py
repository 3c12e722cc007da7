#!/usr/bin/python3
"""What tills see of a restart and of an upgrade, in a bare Debian with its systemd: tests/bench/restart.py [SUITE], as root,
after scripts/package. Bars: with the stored sockets no connection is refused, and the longest wait is at most three times a
restart; without them connections are refused for two seconds at most."""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support.box import ROOT  # noqa: E402
from support.debian_root import ARCHITECTURE, BootedRoot  # noqa: E402
from support.till_through_restart import Tills  # noqa: E402

WITHOUT = """mkdir -p /etc/systemd/system/comanda.service.d
printf '[Service]\\nFileDescriptorStoreMax=0\\n' >/etc/systemd/system/comanda.service.d/none.conf
systemctl daemon-reload; systemctl restart comanda; systemctl restart comanda"""


def later(package, directory):
    """The same package with a later version."""
    tree = directory / "tree"
    subprocess.run(["dpkg-deb", "-R", package, tree], check=True)
    control = tree / "DEBIAN/control"
    control.write_text(re.sub("^Version: .*", "Version: 9.0", control.read_text(), flags=re.M))
    subprocess.run(["dpkg-deb", "--root-owner-group", "-Zgzip", "-z1", "-b", tree, directory], check=True, capture_output=True)
    return next(directory.glob("*.deb"))


def main():
    package = next((ROOT / "build/package").glob(f"comanda_*_{ARCHITECTURE}.deb"))
    machine = BootedRoot(sys.argv[1] if len(sys.argv) > 1 else "bookworm")
    try:
        status, said = machine.install(package)
        assert status == 0, said
        machine.run("runuser -u comanda -- comanda import demo")
        restarts = []
        for _ in range(5):
            begin = time.monotonic()
            machine.run("systemctl restart comanda")
            restarts.append(time.monotonic() - begin)
        restart_s = sorted(restarts)[2]
        print(f"a restart alone: {restart_s:.2f} s (median of 5)")
        with tempfile.TemporaryDirectory() as directory:
            next_one = later(package, pathlib.Path(directory))
            cases = {
                "restart, sockets stored": lambda: machine.run("systemctl restart comanda"),
                "upgrade, sockets stored": lambda: machine.install(next_one),
                "restart, sockets not stored": lambda: machine.run("systemctl restart comanda"),
            }
            for what, happens in cases.items():
                if what.endswith("not stored"):
                    machine.run(WITHOUT)
                tills = Tills(machine)
                with tills:
                    happens()
                tills_seen = {k: v for k, v in tills.seen.items() if k in ("refused", "cut", "503")}
                print(f"{what}: {len(tills.orders)} orders, longest wait {tills.longest_s:.2f} s = "
                      f"{tills.longest_s / restart_s:.1f} x a restart, refused for {tills.refused_s:.2f} s, {tills_seen}", flush=True)
    finally:
        machine.close()


if __name__ == "__main__":
    main()
