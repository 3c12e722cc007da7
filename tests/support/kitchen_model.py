"""A ticket of the kitchen, as section 20 of the contract says, in words of its own: what happened has numbers in the order in
which it happened, and times alone decide what ends. Nothing of the server's form is used."""

HOUR_MS = 3_600_000
LIFE = ["PENDING", "PREPARING", "READY", "DELIVERED", "FINALIZED"]


class Line:
    def __init__(self, number, at, is_made, station):
        self.since = number  # when it was added, or called back
        self.added_at, self.is_made, self.station = at, is_made, station
        self.cancelled, self.marked_at = False, None

    @property
    def counts(self):
        return self.is_made and not self.cancelled


class Ticket:
    def __init__(self, now, scheduled=None, lead_minutes=20):
        self.status, self.lines = "PENDING", []
        self.version, self.writes, self.happened = 1, 0, 0
        self.called = self.out = 0
        self.rush = False
        self.moved_at, self.cancelled_at = now, None
        self.scheduled, self.lead_ms = scheduled, lead_minutes * 60_000
        self.told = []  # changes of its events

    def _next(self):
        self.happened += 1
        return self.happened

    # Tills
    def add(self, now, kinds):
        """Of (is it made there, its station)."""
        self.lines += [Line(self._next(), now, is_made, station) for is_made, station in kinds]
        self.version += 1

    def cancel_line(self, index):
        if not self.lines[index].cancelled:
            self.lines[index].cancelled = True
            self.version += 1

    def advance(self, now, status):
        if LIFE.index(status) <= LIFE.index(self.status):
            return
        self.status, self.moved_at = status, now
        if status in ("READY", "DELIVERED"):
            self.called = self._next()
        self.version += 1

    def cancel(self, now):
        if self.status != "CANCELLED":
            self.status, self.cancelled_at, self.moved_at = "CANCELLED", now, now
            self.version += 1

    # Who carries it
    def deliver(self, now, step):
        """On the way makes an order READY which nobody has called so: what the kitchen makes is not cooked by that."""
        if step == "on the way" and LIFE.index(self.status) < LIFE.index("READY"):
            self.status, self.moved_at = "READY", now
        if step == "delivered" and LIFE.index(self.status) < LIFE.index("DELIVERED"):
            self.status, self.moved_at, self.called = "DELIVERED", now, self._next()
        self.version += 1

    # The panel
    def switch(self, now, station, is_made):
        """The station makes something from now on, or makes nothing any more."""
        before = self._shown(now)
        for line in self.lines:
            if line.station == station:
                line.is_made = is_made
        if self._shown(now) != before:
            self._tell("lines")

    def _shown(self, now):
        state = self.state(now)
        return state, state != "closed" and [self.waits(line, now) for line in self.lines]

    # The kitchen
    def _tell(self, *changes):
        self.writes += 1
        self.told.append(list(changes))

    def done(self, now, indexes):
        is_open = self.status in LIFE[:4]
        fresh = [line for i, line in enumerate(self.lines) if i in indexes and line.marked_at is None]
        moving = [line for line in fresh if line.counts and is_open]
        had_waited = any(self.waits(line, now) for line in moving)
        for line in fresh:
            line.marked_at = now
        if not fresh:
            return
        self._tell("lines")
        if had_waited and not self.anything_waits(now):
            self.advance(now, "READY")
        elif moving:
            self.advance(now, "PREPARING")

    def undo(self, now, indexes):
        changes = ["out"] if self.out else []
        self.out = 0
        for i in sorted(indexes):
            line = self.lines[i]
            if line.marked_at is None and (self.waits(line, now) or not self._would_wait(line, now)):
                continue
            line.marked_at, line.since = None, self._next()
            changes.append("lines")
        if changes:
            self._tell(*[name for name in ("lines", "out") if name in changes])

    def start(self, now):
        if self.status == "PENDING":
            self.advance(now, "PREPARING")

    def set_rush(self, on):
        if self.rush != on:
            self.rush = on
            self._tell("rush")

    def send_out(self, now):
        if self.is_out:
            return
        self.out = self._next()
        self._tell("out")
        if self.status in LIFE[:2]:
            self.advance(now, "READY")

    # What follows
    @property
    def revision(self):
        return self.version + self.writes

    @property
    def is_out(self):
        """The dishes have left, and nothing was added since."""
        return self.out > 0 and all(line.since < self.out for line in self.lines)

    def _would_wait(self, line, now):
        begins = max(line.added_at, self.scheduled or 0)
        return self.status != "CANCELLED" and line.counts and now < begins + 12 * HOUR_MS

    def waits(self, line, now):
        return line.marked_at is None and self._would_wait(line, now) and line.since > max(self.called, self.out)

    def anything_waits(self, now):
        return any(self.waits(line, now) for line in self.lines)

    def state(self, now):
        if self.status == "CANCELLED":
            untouched = any(line.counts and line.marked_at is None for line in self.lines)
            return "cancelled" if untouched and not self.is_out and now < self.cancelled_at + HOUR_MS else "closed"
        if self.anything_waits(now):
            return "later" if self.scheduled and self.scheduled - now > self.lead_ms else "open"
        last = max([self.moved_at, *(line.marked_at for line in self.lines if line.marked_at is not None)])
        is_ready = self.status in LIFE[:3] and any(line.counts for line in self.lines) and not self.is_out
        return "ready" if is_ready and now < last + HOUR_MS else "closed"
