"""`comanda config set`, killed at each of its calls that touch files: the old or the new settings are left, whole."""

import subprocess

import pytest

from support.box import BINARY, PATIENCE_S, RUNNER

OLD, NEW = "rate_lan = 5000\n", "rate_lan = 5000\nworkers = 64\n"


def config(data, *words, tracer=()):
    return subprocess.run([*tracer, *RUNNER, str(BINARY), "config", *words, "--data", str(data)], capture_output=True, text=True,
                          timeout=PATIENCE_S * 4)


@pytest.mark.parametrize("call", ["openat", "write", "fsync", "rename", "close"])
def test_killed_anywhere_it_leaves_the_old_or_the_new_file(tmp_path, call):
    file, contents = tmp_path / "comanda.conf", []
    for nth in range(1, 1000):
        file.write_text(OLD)
        done = config(tmp_path, "set", "workers", "64", tracer=[
            "strace", "-f", "-q", "-o", "/dev/null", "-e", "trace=" + call, "-e", f"inject={call}:signal=KILL:when={nth}"])
        assert done.returncode in (0, 137, -9), done
        contents.append(file.read_text())
        assert config(tmp_path, "check").returncode == 0
        if done.returncode == 0:
            break
    assert len(contents) > 1 and contents[-1] == NEW and set(contents) <= {OLD, NEW}
