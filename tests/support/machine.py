"""Another machine, as far as the program sees: a program whose /etc/machine-id is another one, in a mount namespace of its own.
Without root, in a user namespace."""

import os
import pathlib
import tempfile


class Machine:
    """`Machine(None)` has no machine-id. For Box.wrapper, and before the words of a command."""

    def __init__(self, machine_id):
        self._file = tempfile.NamedTemporaryFile("w", prefix="comanda-machine-")
        self._file.write(machine_id + "\n" if machine_id else "")
        self._file.flush()
        pathlib.Path(self._file.name).chmod(0o644)
        namespaces = ["--mount"] if os.geteuid() == 0 else ["--mount", "--user", "--map-root-user"]
        self.words = ["unshare", *namespaces, "sh", "-c", 'mount --bind "$0" /etc/machine-id && exec "$@"', self._file.name]


def new_machine():
    return Machine(os.urandom(16).hex())
