"""A command on a terminal, where it asks."""

import contextlib
import fcntl
import os
import pty
import subprocess
import termios

from support.box import BINARY, PATIENCE_S, RUNNER


def answer(words, answer):
    """(exit code, everything it says) of the program, whose question [y/N] is answered with these bytes."""
    master, slave = pty.openpty()
    process = subprocess.Popen([*RUNNER, str(BINARY), *map(str, words)], stdin=slave, stdout=slave, stderr=slave,
                               start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(slave)
    said = b""
    with contextlib.suppress(OSError):
        while b"[y/N]" not in said:
            said += os.read(master, 4096)
        os.write(master, answer)
        while more := os.read(master, 4096):
            said += more
    code = process.wait(PATIENCE_S)
    os.close(master)
    return code, said.decode()
