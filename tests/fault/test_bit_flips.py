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
from support.receiver import LOOPBACK

ORDERS = 300 if LONG else 120
ROW_FLIPS, OTHER_FLIPS, SMALL_FLIPS = (1000, 200, 300) if LONG else (48, 24, 48)
ROWS = ("orders", "combo", "combo_modifier", "payment", "discount", "order_status", "record", "event")
OTHERS = ("index", "free")
# Few rows, on which everything depends.
SMALL = {"company_counter": ["company_counter"], "mark": ["mark"], "event_mark": ["event_mark"], "idempotency": ["idempotency"],
         "company": ["company", "payment_method", "dining_table", "station"],
         "menu": ["category", "product", "variant", "modifier_category", "modifier", "product_record"],
         "client": ["client", "address", "client_word", "staff"], "api_key": ["api_key"], "audit": ["audit"],
         "facet": ["order_facet"], "webhook": ["webhook", "webhook_delivery"]}
# They only sort and number rows.
WEBHOOK_WITHOUT_CHECKSUM = ("number", "outcome", "created_seq")
SHOWN_MAX = 12


@pytest.fixture(scope="module")
def laboratory():
    """The database, and the seed that it and the choice of bits come from."""
    seed = int(os.environ.get("COMANDA_SEED", random.SystemRandom().randrange(2**32)))
    box = WeekBox(options=["--sandbox-listen", "", "--workers", "16", *LOOPBACK], synchronised=True)
    try:
        week = Week(box, seed, ORDERS)
        week.play()
        yield Laboratory(week), seed
    finally:
        box.kill_if_running()
        box.discard()


def regions_of(laboratory, kind):
    regions = laboratory.file.regions
    if kind in SMALL:
        return [r for r in regions if r.owner in SMALL[kind] and not r.is_index and r.part != "free space"]
    if kind == "index":
        return [r for r in regions if r.is_index and r.part != "free space"]
    if kind == "free":
        return [r for r in regions if r.part in ("free space", "free list")]
    table = "event" if kind == "record" else kind
    return [r for r in regions if r.owner == table and not r.is_index and r.part != "free space"
            and (table != "event" or (r.part == "body") == (kind == "record"))]


def flip_bits(laboratory, seed, kinds, count):
    """How often each outcome came, and all trials."""
    dice = random.Random(f"{seed} {kinds}")
    regions = {kind: regions_of(laboratory, kind) for kind in kinds}
    counts, trials = collections.Counter(), []
    for number in range(count):
        kind = kinds[number % len(kinds)]
        flip = laboratory.choose(dice, regions[kind])
        found = laboratory.try_out(flip)
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
    """No row holds what an index says: the server looks at the indexes of a file of this size before it answers. An index
    whose pages are malformed is not put right: a list or a report may lack rows then, and /readyz says that the database is
    damaged."""
    laboratory, seed = laboratory
    begin = time.monotonic()
    counts, trials = flip_bits(laboratory, seed, OTHERS, OTHER_FLIPS)
    in_time = [trial for trial in trials if not trial[2].was_served_early]
    put_right = [trial for trial in in_time if not trial[2].takes_no_writes]
    with capsys.disabled():
        print(f"\n{OTHER_FLIPS} bits of indexes and free pages, seed {seed}, {time.monotonic() - begin:.0f} s; in "
              f"{len(trials) - len(in_time)} trials this machine was too slow to look at all first, in {len(in_time) - len(put_right)} "
              f"the database took no more writes\n{table(counts, OTHERS)}")
    assert_none(("process_ended", "not_answered", "invalid_json"), trials, seed)
    assert_none(["granted", "write_after_damage_wrong"], in_time, seed)
    assert_none([*WRONG, "report_wrong", "shown_as_it_is", "lost"], put_right, seed)


def test_a_bit_in_a_small_table_ends_nothing_and_grants_nothing(laboratory, capsys):
    """What has no checksum there, such as a name of the menu, may be shown as it is: that is counted."""
    laboratory, seed = laboratory
    begin = time.monotonic()
    counts, trials = flip_bits(laboratory, seed, [*SMALL], SMALL_FLIPS)
    failed = [100 * found.failures // max(1, found.answers) for _, _, found in trials]
    with capsys.disabled():
        print(f"\n{SMALL_FLIPS} bits of small tables, seed {seed}, {time.monotonic() - begin:.0f} s; more than half of the "
              f"answers were 5xx in {sum(part > 50 for part in failed)} trials\n{table(counts, [*SMALL])}")
    assert_none(("granted", "process_ended", "not_answered", "invalid_json"), trials, seed)
    # Not the marks: one of them may be taken for the next hour's, so that events go an hour early. Nor counters whose
    # checksum is what was lost, nor the counts of orders, which have none.
    mended = ("idempotency", "api_key")
    tables = {table for kind in mended for table in SMALL[kind]}
    assert_none([one for one in WRONG if one != "not_found"], [trial for trial in trials if trial[1].region.owner in tables], seed)
    webhooks = [trial for trial in trials if trial[1].region.owner in SMALL["webhook"]
                and trial[1].region.part not in WEBHOOK_WITHOUT_CHECKSUM]
    assert_none(WRONG, webhooks, seed)
    assert_none(["shown_as_it_is"], [trial for trial in webhooks if not trial[2].is_noticed()], seed)
