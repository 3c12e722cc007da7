"""A Debian of its own for each test: a bare one made once with debootstrap, and a layer over it that is thrown away. Its
processes see each other, its own network of loopback alone, and no systemd: `systemctl` stands in for it. Needs root."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile

from support.box import PATIENCE_S, ROOT

CACHE = pathlib.Path(os.environ.get("COMANDA_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "comanda")
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
# What the package depends on, and what the tests need.
PACKAGES = "systemd,tzdata,ca-certificates,curl,procps"
MAKE = ROOT / "tests/support/bare_debian"
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C",
               "TERM": "dumb", "DEBIAN_FRONTEND": "noninteractive"}
SETTING_UP = """set -e
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mount -t proc proc "$2/root/proc"
mount --rbind /dev "$2/root/dev"
mount -t tmpfs tmpfs "$2/root/run"
mkdir -p "$2/root/run/systemd/system" "$2/root/run/lock"
echo ready
exec /usr/bin/python3 -c "$3"
"""
# The first process inside.
COLLECT_THE_DEAD = """import os, time
while True:
    try:
        os.wait()
    except ChildProcessError:
        time.sleep(0.02)"""
LOOPBACK_UP = """import fcntl, socket, struct
request = struct.pack("16sh14x", b"lo", 1)
fcntl.ioctl(socket.socket(), 0x8914, request)"""


def base(suite):
    """The directory of the bare system, made if it is not there yet."""
    key = hashlib.sha256(MAKE.read_bytes() + PACKAGES.encode()).hexdigest()[:12]
    made = CACHE / "bare" / f"{suite}-{key}"
    made.parent.mkdir(parents=True, exist_ok=True)
    with open(made.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            unfinished = made.with_name(made.name + ".unfinished")
            subprocess.run(["rm", "-rf", "--one-file-system", unfinished], check=True)
            subprocess.run([MAKE, suite, unfinished, PACKAGES], check=True)
            unfinished.rename(made)
    return made


class DebianRoot:
    def __init__(self, suite):
        # Beside the bare system: layers over a file system in memory are not possible everywhere.
        lower = base(suite)
        self._place = pathlib.Path(tempfile.mkdtemp(prefix="layer.", dir=lower.parent))
        for name in ("upper", "work", "root"):
            (self._place / name).mkdir()
        self._holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--net", "--pid", "--fork", "--kill-child",
             "sh", "-c", SETTING_UP, "sh", lower, self._place, COLLECT_THE_DEAD],
            stdout=subprocess.PIPE, text=True)
        assert self._holder.stdout.readline() == "ready\n", "no layer over the bare system; are we root?"
        children = pathlib.Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children")
        self._inside = children.read_text().split()[0]
        subprocess.run([*self._enter("--net"), "/usr/bin/python3", "-c", LOOPBACK_UP], check=True)
        self.path("/usr/bin/systemctl").rename(self.path("/usr/bin/systemctl.real"))
        self.copy(ROOT / "tests/support/systemctl", "/usr/bin/systemctl")

    def _enter(self, *namespaces):
        return ["nsenter", "--target", self._inside, *namespaces]

    def path(self, name):
        """Of a file inside, for this process."""
        return pathlib.Path(f"/proc/{self._inside}/root{self._place}/root") / name.lstrip("/")

    def copy(self, source, target):
        self.path(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, self.path(target))

    def try_run(self, command):
        """(status, everything it says) of a shell command inside."""
        done = subprocess.run([*self._enter("--mount", "--net", "--pid"), "chroot", self._place / "root", "/bin/sh", "-c", command],
                              env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=4 * PATIENCE_S)
        return done.returncode, done.stdout

    def run(self, command):
        status, said = self.try_run(command)
        assert status == 0, (command, status, said)
        return said

    def install(self, package):
        """(status, output) of apt, with the file of a package as a technician has it."""
        name = f"/srv/{package.name}"
        self.copy(package, name)
        return self.try_run(f"apt-get -q -y --no-install-recommends --allow-downgrades install {name}")

    def calls(self):
        """What systemctl was asked to do since the last time, questions left out."""
        file = self.path("/run/systemctl.calls")
        lines = file.read_text().splitlines() if file.exists() else []
        with contextlib.suppress(FileNotFoundError):
            file.unlink()
        words = [[w for w in line.split() if not w.startswith("--")] for line in lines]
        return [" ".join(w) for w in words if w and w[0] not in ("is-enabled", "is-active", "show", "preset", "daemon-reload")]

    def close(self):
        self._holder.kill()
        self._holder.wait()
        self._holder.stdout.close()
        # Its mounts end with its last process.
        for _ in range(100):
            if not pathlib.Path(f"/proc/{self._inside}/ns").exists():
                break
            subprocess.run(["sleep", "0.05"], check=True)
        subprocess.run(["rm", "-rf", "--one-file-system", self._place], check=True)
