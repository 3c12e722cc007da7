"""Whether the time of a refusal tells something of the keys: scripts/bench --timing [--long]. Informs; decides nothing.

Guesses of four kinds are sent in turns over HTTPS, from ever new addresses of this machine (twenty unknown keys a
minute is what one address has), and compared by Welch's t: the server's look-up goes by hash, so a guess that
shares its beginning with a real key must take no longer than one that shares nothing.
"""

import argparse
import contextlib
import http.client
import itertools
import json
import math
import pathlib
import random
import statistics
import sys
import time
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support.box import PATIENCE_S, ROOT, Box  # noqa: E402

RESULT = ROOT / "build/timing.json"
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
A_CONNECTION = 20
SUSPICIOUS_T = 4.5  # what the test-vector leakage assessment takes


def whole_key(begin):
    number, digits = zlib.crc32(begin.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, 62)
        digits = BASE62[digit] + digits
    return begin + digits


def letters(chance, count):
    return "".join(chance.choice(BASE62) for _ in range(count))


def guesses(chance, real):
    """{what is sent: the key}: another one each time."""
    begin = real[:9]  # cmd_live_
    wrong = whole_key(begin + letters(chance, 32))
    return {"shares nothing": whole_key(begin + letters(chance, 32)),
            "shares 30 of 32 letters": whole_key(real[:39] + letters(chance, 2)),
            "wrong checksum": wrong[:-1] + BASE62[(BASE62.index(wrong[-1]) + 1) % 62],
            "the real key's body, wrong checksum": real[:41] + letters(chance, 6)}


def measure(box, real, rounds, chance):
    times = {}
    sources = (f"127.{a}.{b}.{c}" for a, b, c in itertools.product(range(1, 255), range(1, 255), range(1, 255)))
    tls = box.client().tls()
    for _ in range(rounds):
        connection = http.client.HTTPSConnection("127.0.0.1", box.port, timeout=PATIENCE_S, context=tls,
                                                 source_address=(next(sources), 0))
        with contextlib.closing(connection):
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            for _ in range(A_CONNECTION // 4):
                sent = list(guesses(chance, real).items())
                chance.shuffle(sent)
                for kind, key in sent:
                    begin = time.perf_counter_ns()
                    connection.request("GET", "/v1/orders", headers={"X-API-Key": key})
                    answer = connection.getresponse()
                    answer.read()
                    times.setdefault(kind, []).append((time.perf_counter_ns() - begin) / 1000)
                    assert answer.status == 401, (kind, answer.status)
    return times


def kept(values):
    """Without the slowest tenth: what the machine did meanwhile."""
    return sorted(values)[:len(values) * 9 // 10]


def welch(a, b):
    spread = statistics.variance(a) / len(a) + statistics.variance(b) / len(b)
    return (statistics.mean(a) - statistics.mean(b)) / math.sqrt(spread)


def main():
    parser = argparse.ArgumentParser(prog="scripts/bench --timing", add_help=False)
    parser.add_argument("--timing", action="store_true")
    parser.add_argument("--brief", action="store_true")
    parser.add_argument("--long", action="store_true")
    given = parser.parse_args()
    rounds = 20 if given.brief else 4000 if given.long else 400
    box = Box()
    try:
        box.bring_in("demo")
        real = box.make_key()["key"]
        box.start()
        times = {kind: kept(values) for kind, values in measure(box, real, rounds, random.Random(1)).items()}
    finally:
        box.discard()
    base = times["shares nothing"]
    rows = [{"guess": kind, "samples": len(values), "mean_us": statistics.mean(values),
             "median_us": statistics.median(values), "t": welch(values, base) if values is not base else 0.0}
            for kind, values in times.items()]
    print(f"{'guess':40}{'samples':>8}{'mean us':>10}{'median us':>11}{'t':>8}")
    for row in rows:
        print(f"{row['guess']:40}{row['samples']:8}{row['mean_us']:10.1f}{row['median_us']:11.1f}{row['t']:8.1f}")
    told = abs(next(r["t"] for r in rows if r["guess"].startswith("shares 30"))) >= SUSPICIOUS_T
    print("\nA guess that is nearly right " + ("is told from others: look into it." if told else "takes as long as others."))
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(json.dumps({"rows": rows}, indent=1))


if __name__ == "__main__":
    main()
