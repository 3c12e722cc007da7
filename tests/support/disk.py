"""A disk whose power is cut: a file system in a file, mounted where only this process and its children see it."""

import contextlib
import ctypes
import pathlib
import shutil
import subprocess
import tempfile

from support.waiting import PATIENCE_S, wait_until_passes

IMAGE_BYTES = 384 << 20  # of holes
MAKERS = {"ext4": ["mkfs.ext4", "-q", "-F"], "xfs": ["mkfs.xfs", "-q", "-f"]}


def keep_mounts_to_ourselves():
    """Moves this process to its own mount namespace, so that its mounts end with it in every case."""
    newns = 0x00020000
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(newns) != 0:
        raise PermissionError("the power cuts need root: a mount namespace of their own was refused")
    run("mount", "--make-rprivate", "/")


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True, timeout=PATIENCE_S * 2)
    assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.stderr.strip() or done.stdout.strip()}"


class Disk:
    def __init__(self, kind, options="loop", image_bytes=IMAGE_BYTES):
        self.options = options
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="comanda-power-"))
        self.image, self.root = self.directory / "image", self.directory / "disk"
        self.root.mkdir()
        with open(self.image, "wb") as image:
            image.truncate(image_bytes)
        run(*MAKERS[kind], self.image)
        self.mount()

    def mount(self):
        """Uses a new loop device, which the kernel releases with the mount."""
        run("mount", "-o", self.options, self.image, self.root)

    def cut(self):
        """Cuts the power: data that was not synced is lost."""
        run("xfs_io", "-x", "-c", "shutdown", self.root)

    def come_back(self):
        self.unmount()
        self.mount()

    def unmount(self):
        # A process killed just now may hold a file open for a moment, and mounting the image twice would damage it.
        wait_until_passes(lambda: run("umount", self.root))

    def discard(self):
        with contextlib.suppress(AssertionError):
            self.unmount()
        if not self.root.is_mount():
            shutil.rmtree(self.directory)


class LoopDisk:
    """A disk that is plugged in, its file system in a file: of a kind of MAKERS, or none."""

    def __init__(self, image, kind):
        self.image = image
        with open(image, "wb") as file:
            file.truncate(IMAGE_BYTES)
        if kind:
            run(*MAKERS[kind], image)
        self.plug()

    def plug(self):
        done = subprocess.run(["losetup", "--find", "--show", self.image], capture_output=True, text=True, check=True)
        self.device = done.stdout.strip()

    @property
    def name(self):
        return pathlib.Path(self.device).name

    @property
    def uuid(self):
        return subprocess.run(["blkid", "-p", "-o", "value", "-s", "UUID", self.image], capture_output=True, text=True,
                              check=True).stdout.strip()

    def unplug(self):
        """What is mounted goes on until it is unmounted."""
        subprocess.run(["losetup", "--detach", self.device], check=True)
        self.device = None

    def close(self):
        if self.device:
            self.unplug()
