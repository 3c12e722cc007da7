"""The table of bars: what, bar, now, former, ceiling, met."""

import dataclasses
import json


@dataclasses.dataclass
class Row:
    what: str
    bar: str
    now: object  # numbers, or a text
    former: object = None
    ceiling: str = ""
    met: bool | None = None
    note: str = ""
    detail: dict = dataclasses.field(default_factory=dict)  # only in the JSON


def shown(value):
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def text(rows):
    head = ("what", "bar", "now", "former", "ceiling", "met")
    cells = [(row.what, row.bar, shown(row.now), shown(row.former), row.ceiling,
              "" if row.met is None else "met" if row.met else "MISSED") for row in rows]
    widths = [max(len(line[n]) for line in [head, *cells]) for n in range(len(head))]
    lines = ["  ".join([line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:]))])
             for line in [head, *cells]]
    notes = [f"{row.what}: {row.note}" for row in rows if row.note]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], "", *notes])


def as_json(rows, facts):
    return json.dumps({**facts, "rows": [dataclasses.asdict(row) for row in rows]}, indent=2) + "\n"
