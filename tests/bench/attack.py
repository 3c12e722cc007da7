"""Twenty terminals while 1,000 slow connections are held open: scripts/bench --attack [--brief]. Reports only.

For each kind of slow connection, from one address and from 200, and with a valid key: what the attack costs the server
in cores once it holds its connections, and the times that the terminals see, ten with lasting connections and ten with
a handshake for every request, beside those without an attack. Then the same under floods of connections, handshakes
and unknown keys.
"""

import argparse
import contextlib
import dataclasses
import json
import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))

from support import flood, slow_attack  # noqa: E402
from support.box import Box, PATIENCE_S  # noqa: E402
from support.terminals import Terminals  # noqa: E402

RESULT = ROOT / "build/attack.json"
COUNT = 1000
CORES_MAX = 0.1
FLOOD_CORES_MAX = 1.0
P99_RATIO_MAX = 2.0


@dataclasses.dataclass
class Row:
    name: str
    cores: float
    lasting_p99_ms: float
    fresh_p99_ms: float
    failures: int


class Attack:
    cores_max = CORES_MAX

    def __init__(self, box, kind, sources, key=None):
        words = ["--port", box.port, "--kind", kind, "--sources", sources, "--count", COUNT, "--first-rate", 500,
                 "--seconds", 600]
        if key:
            words += ["--key", key]
        self.process = subprocess.Popen([sys.executable, slow_attack.__file__, *map(str, words)],
                                        stdout=subprocess.PIPE, text=True)

    def __enter__(self):
        while json.loads(self.process.stdout.readline())["opened"] < COUNT:
            pass
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(PATIENCE_S)
        self.process.stdout.close()


class Flood:
    """For so long that whoever is measured is done; it ends with the measurement."""

    cores_max = FLOOD_CORES_MAX

    def __init__(self, box, kind):
        self.process = subprocess.Popen([sys.executable, flood.__file__, "--port", str(box.port), "--kind", kind,
                                         "--seconds", "600"], stdout=subprocess.DEVNULL)

    def __enter__(self):
        time.sleep(1)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(PATIENCE_S)


def cores(box, seconds):
    """Of the server, while nobody but the attack is there."""
    before, begin = box.cpu_seconds(), time.monotonic()
    time.sleep(seconds)
    return (box.cpu_seconds() - before) / (time.monotonic() - begin)


def times(box, key, seconds):
    with Terminals(box, key, 10, first=1) as lasting, Terminals(box, key, 10, fresh=True, first=101) as fresh:
        time.sleep(seconds)
    failures = lasting.shift.failures + fresh.shift.failures
    return lasting.shift.percentile(99), fresh.shift.percentile(99), len(failures)


def measure(box, name, key, attack, seconds):
    with attack:
        return Row(name, cores(box, seconds), *times(box, key, seconds))


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --attack")
    parser.add_argument("--attack", action="store_true")
    parser.add_argument("--brief", action="store_true", help="three seconds each instead of ten")
    words = parser.parse_args()
    seconds = 3 if words.brief else 10
    box = Box()
    box.bring_in("demo")
    key, other = (box.make_key(name=name)["key"] for name in ("terminal", "attacker"))
    box.start()
    try:
        times(box, key, 1)  # the terminals are known
        rows = [measure(box, "no attack", key, contextlib.nullcontext(), seconds)]
        cases = [(k, s, None) for k in slow_attack.KINDS for s in (1, 200)]
        cases += [(k, 1, other) for k in ("head", "body", "reader", "idle")]
        attacks = [(f"{kind}, {sources} address{'es' if sources > 1 else ''}{', valid key' if with_key else ''}",
                    Attack, (kind, sources, with_key)) for kind, sources, with_key in cases]
        attacks += [(f"flood of {kind}", Flood, (kind,)) for kind in flood.KINDS]
        print(f"{'1,000 slow connections':44} {'cores':>6} {'p99 ms':>8} {'x':>5} {'p99 new':>8} {'x':>5} {'failed':>6}")
        for name, attack, details in attacks:
            rows.append(measure(box, name, key, attack(box, *details), seconds))
            row, idle = rows[-1], rows[0]
            ratios = row.lasting_p99_ms / idle.lasting_p99_ms, row.fresh_p99_ms / idle.fresh_p99_ms
            met = row.cores <= attack.cores_max and max(ratios) <= P99_RATIO_MAX and row.failures == 0
            print(f"{row.name:44} {row.cores:6.3f} {row.lasting_p99_ms:8.1f} {ratios[0]:5.2f} {row.fresh_p99_ms:8.1f} "
                  f"{ratios[1]:5.2f} {row.failures:6} {'met' if met else 'MISSED'}", flush=True)
    finally:
        box.discard()
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps([dataclasses.asdict(row) for row in rows], indent=2) + "\n")


main()
