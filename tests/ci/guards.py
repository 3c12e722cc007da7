"""What each group of tests guards (tests/GUARDS), and which groups a run of continuous integration takes. Pure: no clock,
no git, no files."""

import dataclasses
import fnmatch

RUN_MAX_MINUTES = 25


@dataclasses.dataclass(frozen=True)
class Guard:
    """A row of tests/GUARDS."""
    group: str
    minutes: float  # of one part, on two processors with warm caches
    cores: int  # 1: mostly waits, so that another such group can run beside it; 2: runs alone
    parts: int  # continuous integration runs one of them, the next one each time
    always: bool
    root: bool
    paths: tuple  # folders end in a slash; patterns may have *
    never_owed: tuple  # those of the paths whose changes are tested however long it takes

    def guarded(self, changed):
        """The first changed path that the group guards, or None."""
        return next((path for path in changed if matches(self.paths, path)), None)

    def never_owed_for(self, changed):
        return next((path for path in changed if matches(self.never_owed, path)), None)


def matches(patterns, path):
    return any(path.startswith(p) if p.endswith("/") and "*" not in p else fnmatch.fnmatchcase(path, p) for p in patterns)


def read_guards(text):
    """The rows of tests/GUARDS; its head explains the columns."""
    rows = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace():
            rows[-1] += line.split()
        else:
            rows.append(line.split())
    return [Guard(group, float(minutes), int(cores), int(parts), when == "always", root == "root",
                  tuple(p.rstrip("!") for p in paths), tuple(p.rstrip("!") for p in paths if p.endswith("!")))
            for group, minutes, cores, parts, when, root, *paths in rows]


@dataclasses.dataclass(frozen=True)
class Past:
    """What is recorded of a group. Without a record, nothing was ever green."""
    runs_old: int | None = None  # runs since it was green; None: never
    owed: bool = False  # what it guards has changed, and it did not fit into the run, or parts of it did not run since


@dataclasses.dataclass(frozen=True)
class Choice:
    group: str
    why: str
    owed: bool = False  # if it does not fit into the run, it is owed
    changed: bool = False  # what it guards differs from the commit at which it was last green
    never_owed: bool = False  # runs also past the end


def choose(guards, changed, past):
    """The groups of a run, first those that must run: `changed` has for each group the paths that differ from the commit
    at which it was last green, `past` what is recorded of it. Of those that are owed, and of the others, the stalest come
    first, so that each has its turn."""
    always, never_owed, owed, guarded, stalest = [], [], [], [], []
    for guard in guards:
        group, paths = guard.group, changed.get(guard.group, ())
        known = past.get(group, Past())
        path = guard.guarded(paths)
        age = float("inf") if known.runs_old is None else known.runs_old
        if guard.always:
            always.append(Choice(group, "always"))
        elif must := guard.never_owed_for(paths):
            never_owed.append(Choice(group, f"{must} differs, never owed", never_owed=True, changed=True))
        elif known.owed:
            owed.append((-age, Choice(group, "was owed", owed=True, changed=path is not None)))
        elif path:
            guarded.append(Choice(group, f"{path} differs", owed=True, changed=True))
        else:
            why = "never green" if known.runs_old is None else f"green {known.runs_old} runs ago"
            stalest.append((-age, Choice(group, why)))
    for rows in (owed, stalest):
        rows.sort(key=lambda row: row[0])  # stable: of one age, in the table's order
    return packed(guards, always, never_owed) + [c for _, c in owed] + guarded + [c for _, c in stalest]


def packed(guards, always, never_owed):
    """Those that run in any case, in the order in which they keep both processors busy: what takes both compiles what the
    others run, then those that mostly wait, two beside each other, the longest first."""
    rows = {guard.group: guard for guard in guards}
    alone = [[choice for choice in choices if rows[choice.group].cores == 2] for choices in (always, never_owed)]
    waiting = [choice for choice in always + never_owed if rows[choice.group].cores == 1]
    waiting.sort(key=lambda choice: -rows[choice.group].minutes)
    return alone[0] + waiting + alone[1]


def fits(guard, choice, elapsed_s):
    """Whether the group may begin now. The groups of every run, and those that are never owed, always may."""
    return guard.always or choice.never_owed or elapsed_s + guard.minutes * 60 <= RUN_MAX_MINUTES * 60


def schedule(rows, choices):
    """The minute at which each group would begin if all take as long as their rows say; None: it would be left out. `rows`:
    the guards by group. As run.Run.run_groups() does it, in the order of the choices."""
    free_at = [0.0, 0.0]  # each processor
    for choice in choices:
        guard = rows[choice.group]
        begin = max(free_at) if guard.cores == 2 else min(free_at)
        if not fits(guard, choice, begin * 60):
            yield choice, None
            continue
        # No group begins before those that come before it in the order.
        free_at = [max(minute, begin) for minute in free_at]
        for processor in ((0, 1) if guard.cores == 2 else (free_at.index(min(free_at)),)):
            free_at[processor] = begin + guard.minutes
        yield choice, begin
