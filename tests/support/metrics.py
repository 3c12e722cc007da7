"""The text of /metrics, as a scraper reads it, and waits for what it counts."""

import contextlib
import re

from support.waiting import wait_until


def samples(text):
    """{name with labels: value} of a Prometheus exposition, every line of which must be sound."""
    found, described = {}, set()
    for line in text.splitlines():
        if line.startswith("# "):
            kind, name = line.split(" ")[1:3]
            assert kind in ("HELP", "TYPE"), line
            described.add(name)
            continue
        match = re.fullmatch(r'([a-z_:][a-z0-9_:]*)(\{[^{}]*\})? (-?[0-9.e+-]+|\+Inf|NaN)', line)
        assert match, line
        base = re.sub(r"_(bucket|sum|count)$", "", match[1])
        assert base in described or match[1] in described, f"{match[1]} is not described"
        assert match[1] + (match[2] or "") not in found, f"{line} stands twice"
        found[match[1] + (match[2] or "")] = float(match[3])
    return found


def of_box(box):
    with contextlib.closing(box.client()) as client:
        return samples(client.get("/metrics").body.decode())


def passes_begun(box, worker):
    """How often a background worker has begun its work; None where the box has no such worker."""
    found = [value for name, value in of_box(box).items()
             if name.startswith(f'comanda_worker_passes_total{{worker="{worker}')]
    return found[0] if found else None


def let_work(box, worker, wake=lambda: None, passes=1):
    """Waits until a background worker has ended so many passes that began after this call: what they had to do is done.
    `worker`: its name, or how that begins. `wake`: makes it begin a pass."""
    before = passes_begun(box, worker)

    def has_worked():
        wake()
        return passes_begun(box, worker) > before + passes  # one may have been under way; the last one has ended

    wait_until(has_worked, lambda: f"{passes} passes of {worker}:\n{box.log_text()[-4000:]}")


def wait_for_requests(box, count):
    """Waits until so many requests are under way at the live address, such as long polls that are held."""
    name = 'comanda_http_requests_in_flight{listener="https"}'
    wait_until(lambda: of_box(box)[name] > count, f"{count} requests under way")  # the one for the metrics is another one
