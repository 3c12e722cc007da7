"""The programs that are compared: the one of this tree, and the former one, built from the repository's history."""

import dataclasses
import fcntl
import os
import pathlib
import shutil
import subprocess

from support.box import BINARY, ROOT

# The last commit before a page was one statement and the program was built with -O2: bars "of the former program" refer to it.
FORMER_COMMIT = "317699935d194f8dbaef684abc49e62a60d18561"
NAMES = ("comanda", "comanda_bench")  # the product, and the ceilings built from the same sources


@dataclasses.dataclass(frozen=True)
class Program:
    name: str  # "now" or "former"
    binary: pathlib.Path
    ceilings: pathlib.Path
    webhooks: pathlib.Path | None = None  # the receiver of their benchmark, and its ceiling


def this_program():
    return Program("now", BINARY, BINARY.parent / "comanda_bench", BINARY.parent / "comanda_bench_webhooks")


def cache_directory():
    cache = os.environ.get("COMANDA_CACHE")
    if cache:
        return pathlib.Path(cache)
    return pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "comanda"


def former_program(build_it=True):
    """The former program, built on the first call on a machine and cached by commit. None, with the reason printed,
    where this clone's history does not reach the commit, or where it is not built yet and shall not be."""
    kept = cache_directory() / "former" / FORMER_COMMIT
    kept.mkdir(parents=True, exist_ok=True)
    with open(kept / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two benchmarks may start at once
        if not all((kept / name).exists() for name in NAMES):
            if not build_it:
                print("bench: the former program is not built yet (scripts/bench does); its column stays empty", flush=True)
                return None
            if git("cat-file", "-e", FORMER_COMMIT + "^{commit}").returncode != 0:
                print(f"bench: this clone's history does not have {FORMER_COMMIT[:12]} (a shallow clone?); the column "
                      "\"former\" stays empty: git fetch --unshallow", flush=True)
                return None
            build(kept)
    return Program("former", *(kept / name for name in NAMES))


def git(*words):
    return subprocess.run(["git", "-C", ROOT, *map(str, words)], capture_output=True, text=True)


def build(kept):
    """In a detached worktree under build/, by the scripts of that commit."""
    tree = ROOT / "build/former"
    print(f"bench: building the former program, {FORMER_COMMIT[:12]} (once on this machine)", flush=True)
    remove_worktree(tree)
    added = git("worktree", "add", "--detach", tree, FORMER_COMMIT)
    if added.returncode != 0:
        raise SystemExit(f"bench: git worktree add failed: {added.stderr}")
    try:
        subprocess.run([tree / "scripts/build", "release"], check=True,
                       env={**os.environ, "COMANDA_TARGETS": " ".join(NAMES), "COMANDA_CMAKE_OPTIONS": ""})
        for name in NAMES:  # under its name only when it is whole
            shutil.copy2(tree / "build/release" / name, kept / (name + ".part"))
            (kept / (name + ".part")).rename(kept / name)
    finally:
        remove_worktree(tree)


def remove_worktree(tree):
    git("worktree", "remove", "--force", tree)
    shutil.rmtree(tree, ignore_errors=True)
    git("worktree", "prune")
