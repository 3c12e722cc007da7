"""A million orders against a thousand of the same restaurant, and reports of a year.

All reads are made anew: each has an address of its own (other characters of its query percent-encoded), so that no cache
of answers knows it. CPU is that of the server's thread which answers the one connection, as the scheduler counts it.
"""

import contextlib
import datetime
import pathlib
import statistics
import string
import time

from large import PER_DAY, large_database
from support.box import Box
from table import Row

SMALL = 1000
MANY = {True: 5_000, False: 1_000_000}  # in brief or not
YEAR = {True: (5_000, PER_DAY), False: (110_000, 300)}  # orders, a day
PER_PAGE, PAGES = 20, {True: 5, False: 20}
RATIO_MAX, SLOW_MS, REPORT_S = 1.2, 200, 1
SORTS = [sign + field for field in ("created_at", "updated_at", "scheduled_delivery_date", "total", "order_number")
         for sign in ("", "-")]
MEASURED_AGAIN = 8  # of the worst ratios, more often: the worst of many is a chance one
DAY_S = 86_400
OLD_S = 90 * DAY_S
QUIET_CORES = 0.05  # the check of the file that follows a start has ended
REPORTS = {"by-payment-methods": "by-payment-methods?", "by-tips": "by-tips?", "products-sold": "products-sold?",
           "products-sold with modifiers": "products-sold?filter[include]=products_modifiers&",
           "products-sold freehand": "products-sold?filter[include]=freehand&"}


def utc(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


class Reader:
    """One connection to a server on a database of large_database(), and the thread that answers it."""

    def __init__(self, stack, binary, *words, **named):
        data = large_database(binary, *words, **named)
        self.box = Box(data, ["--sandbox-listen", ""], binary)
        self.box.start()
        stack.callback(self.box.stop)
        self.client = stack.enter_context(contextlib.closing(self.box.client((data / "key").read_text())))
        self.asked = 0
        self.wait_until_quiet()
        # From the columns: the records that are shown have the times of their patterns.
        self.newest = self.column("SELECT max(created_at) FROM orders")[0] / 1000
        self.line = None
        self.keep_line()

    def column(self, sql, *values):
        return [value for (value,) in self.box.rows(sql, *values)]

    def wait_until_quiet(self):
        while True:
            before = self.box.cpu_seconds()
            time.sleep(1)
            if self.box.cpu_seconds() - before < QUIET_CORES:
                return

    def keep_line(self):
        """The server closes a connection that has been idle; a new one is answered by another thread."""
        self.get("")
        if self.client.connection is not self.line:
            self.thread = self.find_thread()
            self.line = self.client.connection

    def find_thread(self):
        spent = lambda: {task: self.spent_us(task) for task in pathlib.Path(f"/proc/{self.box.process.pid}/task").iterdir()}
        before = spent()
        for _ in range(20):
            self.get("")
        return max((us - before.get(task, 0), task) for task, us in spent().items())[1]

    def spent_us(self, task=None):
        with contextlib.suppress(FileNotFoundError):  # a thread that ended
            return int(((task or self.thread) / "schedstat").read_text().split()[0]) / 1000
        return 0

    def get(self, query, path="/v1/orders"):
        self.asked += 1
        number, written = self.asked, ""
        for sign in query:
            odd = False
            if sign in string.ascii_letters:
                number, odd = divmod(number, 2)
            written += f"%{ord(sign):02X}" if odd else sign
        answer = self.client.get(f"{path}?{written}")
        assert answer.status == 200, (path, query, answer.status, answer.body[:300])
        return answer

    def least_ms(self, runs, query, path="/v1/orders"):
        """As the client sees it; the least, since whatever else the machine does only adds to it."""
        times = []
        for _ in range(runs):
            begin = time.perf_counter()
            self.get(query, path)
            times.append((time.perf_counter() - begin) * 1000)
        return min(times)

    def walk_us(self, query, pages):
        """The CPU of a request, on average of the first pages."""
        while True:
            self.keep_line()
            before = self.spent_us()
            for page in range(1, pages + 1):
                self.get(f"{query}&page={page}")
            if self.client.connection is self.line:  # else the server has closed it meanwhile
                return (self.spent_us() - before) / pages

    def total(self, query):
        return self.get(query + "&per_page=1").json["pagination"]["total"]

    def filters(self):
        since = lambda days: utc(self.newest - days * DAY_S).strftime("%Y-%m-%dT%H:%M:%SZ")
        return {"": "", "status=FINALIZED": "filter[status]=FINALIZED", "status=PENDING": "filter[status]=PENDING",
                "service_type=TABLE": "filter[service_type]=TABLE", "paid=true": "filter[paid]=true",
                "paid=false": "filter[paid]=false",
                "a day": f"filter[start_date]={since(1)}", "a week": f"filter[start_date]={since(7)}"}

    def shows_old(self, query):
        """Whether the first page has orders that were closed more than 90 days ago, whose record may be rendered on
        reading."""
        rows = self.get(query).data
        if not rows:
            return False
        closed = self.column("SELECT updated_at FROM orders WHERE company_id = 1 AND id = $1", rows[len(rows) // 2]["id"])[0]
        return time.time() - closed / 1000 > OLD_S


def lists(bench):
    wanted = [bench.wanted(what) for what in ("1,000,000 orders against 1,000", "the last page", "a rare filter")]
    if not any(wanted):
        return
    ratios, last, rare = [], [], []
    for program in bench.programs:
        with contextlib.ExitStack() as stack:
            many = Reader(stack, program.binary, MANY[bench.brief])
            if wanted[0]:
                small, old = (Reader(stack, program.binary, SMALL, old=is_old) for is_old in (False, True))
                ratios.append(against_small(bench, many, small, old))
            last.append(last_pages(many))
            rare.append(rare_filters(many))
    if wanted[0]:
        worst = [found[0] for found in ratios]
        bench.add(Row(f"{MANY[bench.brief]:,} orders against {SMALL:,}, first {PAGES[bench.brief]} pages, worst",
                      f"<= {RATIO_MAX}", *(one["ratio"] for one in worst), met=worst[0]["ratio"] <= RATIO_MAX,
                      note="; ".join(f"{program.name}: {told(one)}" for program, one in zip(bench.programs, worst))
                           + f"; now in all {sum(one['ratio'] > RATIO_MAX for one in ratios[0])} of {len(ratios[0])} above, "
                           + "the next: " + ", ".join(map(told, ratios[0][1:4])),
                      detail={"of_each": ratios}))
    for what, found in (("the last page, any sort, ms", last), ("a rare filter over all, any sort, ms", rare)):
        bench.add(Row(what, f"<= {SLOW_MS}", *(max(times.values()) for times in found),
                      met=max(found[0].values()) <= SLOW_MS, note="slowest now: " + max(found[0], key=found[0].get),
                      detail={"ms": found}))


def told(one):
    return f"{one['query']} {one['ratio']:.2f} ({one['small_us']:.0f} -> {one['many_us']:.0f} us, beside {one['beside']} orders)"


def against_small(bench, many, small, old):
    """Pages that both have, in turns, the worst first. Old orders are compared with old ones: what their age costs is not
    what their number costs."""
    compared = []
    for name in many.filters():
        for sort in SORTS:
            queries = {reader: f"sort={sort}&{reader.filters()[name]}".rstrip("&") for reader in (many, small, old)}
            beside = old if many.shows_old(queries[many]) else small
            pages = min([PAGES[bench.brief]] + [-(-reader.total(queries[reader]) // PER_PAGE) for reader in (many, beside)])
            compared.append({"query": f"{sort} {name}".strip(), "beside": "old" if beside is old else "young",
                             "pages": pages, "of": (beside, queries[beside], queries[many])})
            compare(many, compared[-1], 2 if bench.brief else 5)
    compared.sort(key=lambda one: -one["ratio"])
    for one in compared[:MEASURED_AGAIN]:
        compare(many, one, 3 if bench.brief else 15)
    for one in compared:
        del one["of"]
    return sorted(compared, key=lambda one: -one["ratio"])


def compare(many, one, rounds):
    beside, small_query, many_query = one["of"]
    samples = [(beside.walk_us(small_query, one["pages"]), many.walk_us(many_query, one["pages"])) for _ in range(rounds)]
    one["small_us"], one["many_us"] = (statistics.median(of_one) for of_one in zip(*samples))
    one["ratio"] = one["many_us"] / one["small_us"]


def last_pages(many):
    page = -(-many.total("sort=total") // PER_PAGE)
    return {sort: many.least_ms(5, f"sort={sort}&page={page}") for sort in SORTS}


def rare_filters(many):
    rows = many.get("filter[delivery_status]=NOT_DELIVERED").data
    rare = {"delivery_status=NOT_DELIVERED": "filter[delivery_status]=NOT_DELIVERED", "source=RAPPI": "filter[source]=RAPPI",
            "paid=false": "filter[paid]=false", "status=PENDING": "filter[status]=PENDING"}
    if rows:
        rare["a client"] = "filter[client_id]=" + rows[0]["client_id"]
    return {f"{sort} {name}": many.least_ms(5, f"sort={sort}&{query}") for name, query in rare.items() for sort in SORTS}


def reports(bench):
    what = "reports of a year"
    if not bench.wanted(what):
        return
    orders, per_day = YEAR[bench.brief]
    slowest = []
    for program in bench.programs:
        with contextlib.ExitStack() as stack:
            reader = Reader(stack, program.binary, orders, per_day)
            days = [utc(reader.newest - days * DAY_S).date().isoformat() for days in (365, 0)]
            year = "filter[start_date]={}&filter[end_date]={}".format(*days)
            slowest.append({name: reader.least_ms(3, path.partition("?")[2] + year, "/v1/orders/" + path.partition("?")[0]) / 1000
                            for name, path in REPORTS.items()})
    bench.add(Row(f"{what} of {orders:,} orders, each, s", f"<= {REPORT_S}", *(max(times.values()) for times in slowest),
                  met=max(slowest[0].values()) <= REPORT_S,
                  note="now " + ", ".join(f"{name} {value:.2f}" for name, value in slowest[0].items()),
                  detail={"s": slowest}))
