"""A sample of the cases that `--long` runs completely; each seed gives another sample."""

import random

from support.box import LONG


def sample(last, wanted, seed):
    """`wanted` numbers of 1 to `last`, evenly spread from where the seed says; all of them with --long."""
    if LONG or wanted >= last:
        return list(range(1, last + 1))
    begin = random.Random(seed).random()
    return [1 + int((n + begin) * last / wanted) for n in range(wanted)]
