"""How tests wait: for a condition, never for a time.

Where a test shows that nothing happens, it makes something else happen behind it and waits for that."""

import os
import time

# Only detects hangs: machines are noisy, emulators slow.
PATIENCE_S = float(os.environ.get("COMANDA_PATIENCE", "30"))
# Soon at first, and less often later, so that a wait leaves the processors to what it waits for.
PAUSE_S_MIN, PAUSE_S_MAX = 0.005, 0.05


def wait_until(condition, what, patience_s=PATIENCE_S):
    """Returns what condition() returns, as soon as that is true. `what`: the condition in words, or a function that returns
    more of them for the failure, such as Box.log_text. The limit only catches hangs."""
    deadline, pause_s = time.monotonic() + patience_s, PAUSE_S_MIN
    while True:
        # Read before the condition is: a test that was not given the processor meanwhile looks once more.
        is_late = time.monotonic() > deadline
        if found := condition():
            return found
        assert not is_late, f"not within {patience_s:.0f} s: {what() if callable(what) else what}"
        time.sleep(pause_s)
        pause_s = min(pause_s * 2, PAUSE_S_MAX)


def wait_until_passes(check, patience_s=PATIENCE_S):
    """Repeats check() until it raises no AssertionError; returns what it returns. The last failure is that of the test."""
    failures = []

    def passes():
        try:
            return [check()]
        except AssertionError as failure:
            failures[:] = [failure]

    try:
        (value,) = wait_until(passes, "", patience_s)
    except AssertionError:
        raise failures[0] from None
    return value


def with_short_time(make):
    """Returns the first of make(2), make(10), make(60) that is true: for a moment that is to come soon, and must not have
    passed when the server reads it, on a busy machine either."""
    return next(filter(None, map(make, (2, 10, 60))))
