"""One bit in the database is not what was written: nothing ends the server, nothing wrong is sent, and whatever the bit
changed is found, by the request that meets it or by `comanda verify`. Each trial is one bit in a copy of one database."""

import collections
import os
import random
import time

import pytest

from support.bit_flips import OUTCOMES, WRONG, Laboratory
from support.box import LONG
from support.busy_week import Week, WeekBox

ORDERS = 300 if LONG else 120
ROW_FLIPS, OTHER_FLIPS = (1000, 200) if LONG else (48, 16)
ROWS = ("orders", "combo", "combo_modifier", "payment", "discount", "order_status", "record", "event")
OTHERS = ("index", "free")
SHOWN_MAX = 12


@pytest.fixture(scope="module")
def laboratory():
    """The database, and the seed that it and the choice of bits come from."""
    seed = int(os.environ.get("COMANDA_SEED", random.SystemRandom().randrange(2**32)))
    box = WeekBox(options=["--sandbox-listen", "", "--workers", "16"], synchronised=True)
    try:
        week = Week(box, seed, ORDERS)
        week.play()
        yield Laboratory(week), seed
    finally:
        box.kill_if_running()
        box.discard()


def regions_of(laboratory, kind):
    regions = laboratory.file.regions
    if kind == "index":
        return [r for r in regions if r.is_index and r.part != "free space"]
    if kind == "free":
        return [r for r in regions if r.part in ("free space", "free list")]
    table = "event" if kind == "record" else kind
    return [r for r in regions if r.owner == table and not r.is_index and r.part != "free space"
            and (table != "event" or (r.part == "body") == (kind == "record"))]


def flip_bits(laboratory, seed, kinds, count, after_check=False):
    """How often each outcome came, and all trials."""
    dice = random.Random(f"{seed} {kinds}")
    regions = {kind: regions_of(laboratory, kind) for kind in kinds}
    counts, trials = collections.Counter(), []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        flip = laboratory.choose(dice, regions[kind])
        found = laboratory.try_out(flip, after_check)
        counts[kind, found.outcome()] += 1
        trials.append((found.outcome(), flip, found))
    return counts, trials


def table(counts, kinds):
    lines = [f"{'':24}" + "".join(f"{word:>15}" for word in (*kinds, "all"))]
    for outcome in OUTCOMES:
        numbers = [counts[kind, outcome] for kind in kinds]
        lines.append(f"{outcome:24}" + "".join(f"{n:15}" for n in (*numbers, sum(numbers))))
    return "\n".join(lines)


def told(wrong):
    lines = []
    for outcome, flip, found in wrong[:SHOWN_MAX]:
        lines.append(f"{outcome}: {flip}")
        lines += [f"    {question}: {answer[:600]}" for kind, question, answer in found.signs if kind == outcome][:2]
    return "\n".join(lines)


def assert_none(outcomes, trials, seed):
    if wrong := [trial for trial in trials if trial[0] in outcomes]:
        pytest.fail(f"seed {seed}: {len(wrong)} of {len(trials)}\n{told(wrong)}", pytrace=False)


def test_a_bit_in_a_row_is_found_and_nothing_wrong_is_sent(laboratory, capsys):
    laboratory, seed = laboratory
    begin = time.monotonic()
    counts, trials = flip_bits(laboratory, seed, ROWS, ROW_FLIPS)
    with capsys.disabled():
        print(f"\n{ROW_FLIPS} bits of rows, seed {seed}, {time.monotonic() - begin:.0f} s\n{table(counts, ROWS)}")
    assert_none(WRONG, trials, seed)


def test_a_bit_in_an_index_or_a_free_page_ends_nothing_and_is_put_right(laboratory, capsys):
    """No row holds what an index says, so an answer can be wrong until the index has been looked at: that is counted."""
    laboratory, seed = laboratory
    begin = time.monotonic()
    before, trials_before = flip_bits(laboratory, seed, OTHERS, OTHER_FLIPS)
    after, trials = flip_bits(laboratory, seed, OTHERS, OTHER_FLIPS, after_check=True)
    with capsys.disabled():
        print(f"\n{OTHER_FLIPS} bits of indexes and free pages, seed {seed}, {time.monotonic() - begin:.0f} s\n"
              f"asked at once:\n{table(before, OTHERS)}\nasked after the check:\n{table(after, OTHERS)}")
    assert_none(("process_ended", "not_answered", "invalid_json"), trials_before, seed)
    assert_none(WRONG, trials, seed)
