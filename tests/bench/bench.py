"""The table of bars, of this program and of the former one beside it; called by scripts/bench.

Server CPU per request is what counts: the load generator shares the machine's cores, so requests a second alone mislead.
What is compared runs in turns, and medians of the rounds are shown.
"""

import argparse
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import apps  # noqa: E402
import backups  # noqa: E402
import cpu  # noqa: E402
import friday  # noqa: E402
import head  # noqa: E402
import housekeeping  # noqa: E402
import kitchen  # noqa: E402
import linked  # noqa: E402
import many  # noqa: E402
import table  # noqa: E402
import wear  # noqa: E402
import webhooks  # noqa: E402
from programs import former_program, this_program  # noqa: E402
from serving import Server  # noqa: E402

RESULT = ROOT / "build/bench.json"
EXECUTABLE_BYTES_MAX = 8_000_000
SECTIONS = (cpu.reads, cpu.creates, cpu.whole_orders, many.lists, many.reports, cpu.memory, webhooks.drains,
            webhooks.tills, backups.tills, backups.reading, housekeeping.starts, housekeeping.tills, apps.bursts, linked.tills,
            friday.tills, kitchen.displays, kitchen.memory, kitchen.traffic, kitchen.written, wear.written, wear.kept, head.rates)


class Bench:
    def __init__(self, words, programs, stack):
        self.brief, self.only, self.programs, self.stack = words.brief, words.only, programs, stack
        self.rounds, self.seconds = (1, 0.4) if words.brief else (5, 4) if words.long else (3, 2)
        self.parent = self.directory()
        self.rows = []

    def directory(self):
        return pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="comanda-bench-")))

    def wanted(self, *begins):
        """Whether --only names a row that begins so, or a part of the beginning."""
        return any(self.only in begin or begin in self.only for begin in begins)

    def add(self, *rows):
        self.rows += rows

    def servers(self, name):
        """One of each program, with the demo restaurant."""
        return [Server(self.stack, self.parent / f"{name}-{program.name}", program.binary) for program in self.programs]

    def size(self):
        what = "executable, stripped, bytes"
        if not self.wanted(what):
            return
        sizes = []
        for program in self.programs:
            stripped = self.parent / "stripped"
            subprocess.run(["strip", "-o", stripped, program.binary], check=True)
            sizes.append(stripped.stat().st_size)
        self.add(table.Row(what, f"<= {EXECUTABLE_BYTES_MAX:,}", *sizes, met=sizes[0] <= EXECUTABLE_BYTES_MAX))

    def run(self):
        self.size()
        for section in SECTIONS:
            with contextlib.ExitStack() as self.stack:  # the section's directory and servers
                self.parent = self.directory()
                begin = time.monotonic()
                section(self)
                print(f"bench: {section.__module__}.{section.__name__} took {time.monotonic() - begin:.0f} s",
                      file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench")
    parser.add_argument("--brief", action="store_true", help="short rounds and few orders, to see that everything runs")
    parser.add_argument("--long", action="store_true", help="more and longer rounds")
    parser.add_argument("--only", default="", metavar="WORD", help="only the rows whose name has the word")
    words = parser.parse_args()
    programs = [this_program()]
    if former := former_program(build_it=not words.brief):
        programs.append(former)
    with contextlib.ExitStack() as stack:
        bench = Bench(words, programs, stack)
        try:
            bench.run()
        finally:
            print(table.text(bench.rows))
    RESULT.write_text(table.as_json(bench.rows, {"rounds": bench.rounds, "seconds": bench.seconds, "cores": os.cpu_count(),
                                                 "former": former is not None}))


if __name__ == "__main__":
    main()
