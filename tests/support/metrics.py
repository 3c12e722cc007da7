"""The text of /metrics, as a scraper reads it."""

import re


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
