"""A Debian of its own for each test: a bare one made once with debootstrap, and a layer over it that is thrown away. Its
processes see each other and its own network of loopback alone. Needs root.

DebianRoot has no systemd: `systemctl` stands in for it, and records what it is asked for. BootedRoot has its systemd as
first process, as on a machine. That needs a kernel with cgroup v2 that this machine may divide (also beside v1)."""

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
from support.waiting import wait_until

CACHE = pathlib.Path(os.environ.get("COMANDA_CACHE") or
                     pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "comanda")
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
# scripts/test chooses one in continuous integration.
SUITES = os.environ.get("COMANDA_SUITES", "bookworm trixie").split()
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


def base(suite, packages=PACKAGES, at_hand=""):
    """The directory of the bare system with these packages, made if it is not there yet. What is `at_hand` apt can install
    there without a network."""
    key = hashlib.sha256(MAKE.read_bytes() + packages.encode() + at_hand.encode()).hexdigest()[:12]
    made = CACHE / "bare" / f"{suite}-{key}"
    made.parent.mkdir(parents=True, exist_ok=True)
    with open(made.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            unfinished = made.with_name(made.name + ".unfinished")
            subprocess.run(["rm", "-rf", "--one-file-system", unfinished], check=True)
            subprocess.run([MAKE, suite, unfinished, packages, at_hand], check=True)
            unfinished.rename(made)
    return made


class DebianRoot:
    def __init__(self, suite, packages=PACKAGES, at_hand=""):
        self.suite = suite
        # Beside the bare system: layers over a file system in memory are not possible everywhere.
        lower = base(suite, packages, at_hand)
        self._place = pathlib.Path(tempfile.mkdtemp(prefix="layer.", dir=lower.parent))
        for name in ("upper", "work", "root"):
            (self._place / name).mkdir()
        try:
            self._begin(lower)
        except CannotBoot:
            shutil.rmtree(self._place, ignore_errors=True)
            raise
        self._set_up_network()

    def _set_up_network(self):
        subprocess.run([*self._enter("--net"), "/usr/bin/python3", "-c", LOOPBACK_UP], check=True)

    def _begin(self, lower):
        self._hold(["--mount", "--net", "--pid"], SETTING_UP, lower, self._place, COLLECT_THE_DEAD)
        self.path("/usr/bin/systemctl").rename(self.path("/usr/bin/systemctl.real"))
        self.copy(ROOT / "tests/support/systemctl", "/usr/bin/systemctl")

    def _hold(self, namespaces, script, *words, preexec=None):
        """Starts the first process inside, with the namespaces that end with it."""
        self._holder = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", "unshare", *namespaces, "--fork", "--kill-child", "sh", "-c", script, "sh", *words],
            stdout=subprocess.PIPE, text=True, preexec_fn=preexec)
        assert self._holder.stdout.readline() == "ready\n", "no layer over the bare system; are we root?"
        children = pathlib.Path(f"/proc/{self._holder.pid}/task/{self._holder.pid}/children")
        self._inside = children.read_text().split()[0]

    def _enter(self, *namespaces):
        return ["nsenter", "--target", self._inside, *namespaces]

    def _within(self):
        return [*self._enter("--mount", "--net", "--pid"), "chroot", self._place / "root"]

    def path(self, name):
        """Of a file inside, for this process."""
        return pathlib.Path(f"/proc/{self._inside}/root{self._place}/root") / name.lstrip("/")

    def copy(self, source, target):
        self.path(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, self.path(target))

    def try_run(self, command):
        """(status, everything it says) of a shell command inside."""
        done = subprocess.run([*self._within(), "/bin/sh", "-c", command],
                              env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=4 * PATIENCE_S)
        return done.returncode, done.stdout

    def run(self, command):
        status, said = self.try_run(command)
        assert status == 0, (command, status, said)
        return said

    def start(self, command):
        """A process of this machine in the network inside, with pipes."""
        return subprocess.Popen([*self._enter("--net"), *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

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

    def _end(self):
        self._holder.kill()
        self._holder.wait()
        self._holder.stdout.close()
        # Its mounts end with its last process.
        wait_until(lambda: not pathlib.Path(f"/proc/{self._inside}/ns").exists(), "the last process ends")

    def close(self):
        self._end()
        subprocess.run(["rm", "-rf", "--one-file-system", self._place], check=True)


BOOTING = """set -e
root=$2/root
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro,nosuid,nodev,noexec sysfs "$root/sys"
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=755 tmpfs "$root/dev"
for device in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "$root/dev/${device%:*}" c 1 "${device#*:}"; done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=755 tmpfs "$root/run"
mkdir "$root/run/lock" "$root/run/before"
[ -z "${3:-}" ] || { mkdir -p "$root$4" && mount --bind "$3" "$root$4"; }
cd "$root"
pivot_root . run/before
echo ready
exec env -i container=other PATH="$PATH" sh -c 'umount -l /run/before && exec /lib/systemd/systemd --unit=multi-user.target' >/dev/null 2>&1
"""


class BootedRoot(DebianRoot):
    """Raises CannotBoot, with the reason."""

    shares = ()  # a directory of this machine, and where it is mounted inside

    def _begin(self, lower):
        mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        unified = [m[1] for m in mounts if m[2] == "cgroup2"]
        if not unified:
            raise CannotBoot("this machine has no cgroup v2")
        self._group = pathlib.Path(unified[0]) / f"comanda-test-{self._place.name}"
        try:
            self._group.mkdir()
        except OSError as error:
            raise CannotBoot(f"this machine's cgroups may not be divided: {error}") from None
        # Not enabled in a container, and fails there.
        mask = self._place / "upper/etc/systemd/system/systemd-modules-load.service"
        mask.parent.mkdir(parents=True)
        mask.symlink_to("/dev/null")
        self._boot(lower)

    def _boot(self, lower):
        self._lower = lower
        self._hold(["--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup"], BOOTING, lower, self._place, *self.shares,
                   preexec=lambda: (self._group / "cgroup.procs").write_text("0"))
        try:
            wait_until(self._is_booted, "systemd has started", 4 * PATIENCE_S)
        except AssertionError:
            said = self.try_run("systemctl is-system-running; systemctl --failed --no-pager")
            self.close()
            raise CannotBoot(f"systemd does not start as first process here: {said}") from None

    def pull_the_plug(self):
        """All processes end at once; then the machine starts again."""
        self._end()
        self._boot(self._lower)
        self._set_up_network()

    def _is_booted(self):
        assert self._holder.poll() is None
        return self.try_run("systemctl is-system-running --wait")[1].strip() in ("running", "degraded")

    def path(self, name):
        return pathlib.Path(f"/proc/{self._inside}/root") / name.lstrip("/")

    def _within(self):
        return [*self._enter("--mount", "--net", "--pid", "--ipc", "--uts", "--cgroup")]

    def close(self):
        super().close()
        # Those of its services; the deepest first.
        for group in sorted([self._group, *self._group.rglob("*/")], key=lambda g: -len(g.parts)):
            wait_until(lambda: is_removed(group), f"{group} has no process")


def is_removed(group):
    with contextlib.suppress(OSError):
        group.rmdir()
    return not group.is_dir()


class CannotBoot(Exception):
    pass
