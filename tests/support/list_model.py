"""An independent model of the list of orders and of the three reports (contract section 6; section 7, Listing;
section 11; section 19, Lists, Reports). It computes whole answers from the records of the orders alone: filters, sorts,
pages, days in a time zone, sums. It shares nothing with the program except the system's zone data."""

import bisect
import collections
import dataclasses
import datetime
import functools

from support.exact import Scaled, from_json, members_of, to_json, whole
from support.order_model import divided

UTC = datetime.timezone.utc
LISTS = ["combos", "payments", "discounts"]
DAYS_MAX = 366
END_OF_TIME_MS = 1 << 60


class Refused(Exception):
    """The answer must be 400 invalid_parameter that names this parameter."""

    def __init__(self, parameter):
        super().__init__(parameter)
        self.parameter = parameter


# Time.

EPOCH = datetime.datetime(1970, 1, 1)
ONE_DAY = datetime.timedelta(days=1)


def offset_ms(zone, utc_ms):
    instant = datetime.datetime.fromtimestamp(utc_ms // 1000, UTC)
    return instant.astimezone(zone).utcoffset() // datetime.timedelta(milliseconds=1)


@functools.cache
def to_utc_ms(zone, local):
    """The instant of a local time: of a repeated one the first instant, of a skipped one the instant at which the
    offset changes."""
    local_ms = (local - EPOCH) // datetime.timedelta(milliseconds=1)
    day = 24 * 3_600_000
    before, after = offset_ms(zone, local_ms - day), offset_ms(zone, local_ms + day)
    shown = [local_ms - offset for offset in (before, after) if offset_ms(zone, local_ms - offset) == offset]
    if shown:
        return min(shown)
    low, high = local_ms - day, local_ms + day  # exactly one change lies between
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if offset_ms(zone, middle) == before else (low, middle)
    return high


def minute_of(zone, date, minute):
    return to_utc_ms(zone, datetime.datetime.combine(date, datetime.time()) + datetime.timedelta(minutes=minute))


def local_date(zone, utc_ms):
    return (EPOCH + datetime.timedelta(milliseconds=utc_ms + offset_ms(zone, utc_ms))).date()


@dataclasses.dataclass(frozen=True)
class Days:
    """How time is cut into days: each begins at that minute of its date."""

    zone: datetime.tzinfo
    starts_at: int = 0

    def begin(self, date):
        return minute_of(self.zone, date, self.starts_at)

    def end(self, date):
        return self.begin(date + ONE_DAY)

    def of(self, utc_ms):
        date = local_date(self.zone, utc_ms)
        return date - ONE_DAY * (utc_ms < self.begin(date))


def parse_ms(text):
    instant = datetime.datetime.fromisoformat(text.upper().replace("Z", "+00:00"))
    return (instant - datetime.datetime(1970, 1, 1, tzinfo=UTC)) // datetime.timedelta(milliseconds=1)


def date_of(text):
    """None for an instant."""
    return None if text is None or len(text) > 10 else datetime.date.fromisoformat(text)


def begin_of(text, days):
    """filter[start_date]: a day or an instant."""
    return parse_ms(text) if len(text) > 10 else days.begin(date_of(text))


def end_of(text, days):
    """filter[end_date], as the first instant that is left out."""
    return parse_ms(text) if len(text) > 10 else days.end(date_of(text))


# Records.

class Row:
    """An order as GET showed it."""

    def __init__(self, text, places):
        """`text`: the record as it was sent."""
        self.text, self.places = text, places
        self.record = from_json(text)
        self.id = self.record["id"]
        self.created_ms = parse_ms(self.record["created_at"])
        self.updated_ms = parse_ms(self.record["updated_at"])
        scheduled = self.record["scheduled_delivery_date"]
        self.keys = {
            "created_at": self.created_ms, "updated_at": self.updated_ms, "total": self.minor(self.record["total"]),
            "scheduled_delivery_date": None if scheduled is None else parse_ms(scheduled),
            "order_number": int(self.record["order_number"])}
        self.members = list(members_of(text))
        self.shown = {}

    def minor(self, text):
        return whole(text, self.places)

    def having(self, lists):
        """The text of the record with only these of its three lists (filter[include])."""
        if lists not in self.shown:
            kept = [member for name, member in self.members if name not in LISTS or name in lists]
            self.shown[lists] = "{" + ",".join(kept) + "}"
        return self.shown[lists]


# One company.

def words(parameters, name):
    return set(parameters[name].upper().split(",")) if name in parameters else None


def paged(rows, parameters):
    """The body of a list; `rows` are texts."""
    page, per_page = int(parameters.get("page", 1)), int(parameters.get("per_page", 20))
    shown = rows[(page - 1) * per_page:page * per_page]
    return (f'{{"data":[{",".join(shown)}],"pagination":{{"current_page":{page},"per_page":{per_page},'
            f'"total":{len(rows)},"has_more":{"true" if page * per_page < len(rows) else "false"}}}}}')


@dataclasses.dataclass
class Sold:
    quantity: int = 0
    sales: int = 0
    canceled: int = 0
    modifiers: dict = dataclasses.field(default_factory=lambda: collections.defaultdict(lambda: [0, 0]))


class Company:
    """`menu`: {product or variant id: (product's name, variant's name or None)}; `methods`: {id: (code, description)};
    `snapshots`: {X-Snapshot: the ids of the orders that were there}; `starts_at`: the minute at which its days begin."""

    def __init__(self, zone, starts_at, places, rows, methods, menu, snapshots, now_ms, find_zone):
        self.zone, self.starts_at, self.places, self.rows = zone, starts_at, places, rows
        self.methods, self.menu, self.snapshots = methods, menu, snapshots
        self.now_ms, self.find_zone = now_ms, find_zone

    def answer(self, path, parameters):
        """The body of GET `path`. Raises Refused."""
        return {"/v1/orders": self.list, "/v1/orders/by-payment-methods": self.by_payment_methods,
                "/v1/orders/by-tips": self.by_tips, "/v1/orders/products-sold": self.products_sold}[path](parameters)

    # The list.
    def list(self, parameters):
        include = parameters.get("filter[include]")
        lists = frozenset(LISTS if include is None else include.lower().split(","))
        return paged([row.having(lists) for row in self.chosen(parameters)], parameters)

    def chosen(self, parameters):
        """The rows that pass the filters, sorted."""
        begin, end = parameters.get("filter[start_date]"), parameters.get("filter[end_date]")
        if "filter[day]" in parameters and not (date_of(begin) or date_of(end)):
            raise Refused("filter[day]")
        days = self.days(parameters, self.zone)
        first = begin_of(begin, days) if begin else 0
        last = end_of(end, days) if end else END_OF_TIME_MS
        rows = [row for row in self.rows if first <= row.created_ms < last and self.is_wanted(row, parameters)]
        sort = parameters.get("sort", "-created_at")
        name, descending = sort.lstrip("-"), sort.startswith("-")
        dated = [row for row in rows if row.keys[name] is not None]
        undated = [row for row in rows if row.keys[name] is None]
        dated.sort(key=lambda row: (row.keys[name], row.id), reverse=descending)
        undated.sort(key=lambda row: row.id, reverse=descending)
        return dated + undated

    def days(self, parameters, zone):
        return Days(zone, self.starts_at if parameters.get("filter[day]", "").lower() == "business" else 0)

    def is_wanted(self, row, parameters):
        record = row.record
        scheduled, calendar = row.keys["scheduled_delivery_date"], Days(self.zone)
        begin, end = parameters.get("filter[scheduled_from]"), parameters.get("filter[scheduled_to]")
        if begin and (scheduled is None or scheduled < begin_of(begin, calendar)):
            return False
        if end and (scheduled is None or scheduled >= end_of(end, calendar)):
            return False
        if int(parameters.get("filter[order_number]", row.keys["order_number"])) != row.keys["order_number"]:
            return False
        for name in ("status", "service_type", "source", "delivery_status"):
            wanted = words(parameters, f"filter[{name}]")
            if wanted is not None and record[name] not in wanted:
                return False
        for name in ("client_id", "table_id"):
            wanted = parameters.get(f"filter[{name}]")
            if wanted is not None and record[name] != wanted.lower():
                return False
        since, snapshot = parameters.get("filter[updated_since]"), parameters.get("filter[snapshot]")
        return (parameters.get("filter[reference]", record["reference"]) == record["reference"]
                and parameters.get("filter[public_id]", record["public_id"]).upper() == record["public_id"]
                and (parameters.get("filter[paid]", str(record["paid"])).lower() == str(record["paid"]).lower())
                and (since is None or row.updated_ms >= parse_ms(since))
                and (snapshot is None or row.id in self.snapshots[snapshot]))

    # Reports: which orders.
    def chosen_for_report(self, parameters):
        """(row, whether it counts in the main figures) of the orders that the filters beside the time choose."""
        statuses = words(parameters, "filter[status]")
        types, sources = words(parameters, "filter[service_type]"), words(parameters, "filter[source]")
        for row in self.rows:
            record = row.record
            if ((statuses is None or record["status"] in statuses)
                    and (types is None or record["service_type"] in types)
                    and (sources is None or record["source"] in sources)):
                yield row, statuses is not None or record["status"] != "CANCELLED"

    def sold(self, parameters):
        """(record, whether it counts in the main figures) of the orders that a report is about."""
        is_in = self.intervals(parameters)
        for row, counts in self.chosen_for_report(parameters):
            if is_in(row.created_ms):
                yield row.record, counts

    def intervals(self, parameters):
        """A function that says whether an instant lies in the period and in its daily window."""
        zone = self.find_zone(parameters["timezone"]) if "timezone" in parameters else self.zone
        days = self.days(parameters, zone)
        begin, end, first_day, last_day = self.period(parameters, days)
        windows = self.windows(parameters, days, begin, end, first_day, last_day)
        starts = [start for start, _ in windows]

        def is_in(ms):
            # The last two windows that began before it: only neighbours can overlap.
            near = bisect.bisect_right(starts, ms)
            return any(ms < to for _, to in windows[max(0, near - 2):near])

        return is_in

    def period(self, parameters, days):
        """(begin, end, first day, last day); the days are None where an instant was sent. Default: today. With an end
        alone: the day of that end."""
        begin, end = parameters.get("filter[start_date]"), parameters.get("filter[end_date]")
        last_day = date_of(end) if end else days.of(self.now_ms)
        to = end_of(end, days) if end else days.end(last_day)
        first_day = date_of(begin) if begin else days.of(to - 1)
        start = begin_of(begin, days) if begin else days.begin(first_day)
        if start >= to or (days.of(to - 1) - days.of(start)).days >= DAYS_MAX:
            raise Refused("filter[start_date]")
        return start, to, first_day, last_day

    @staticmethod
    def windows(parameters, days, begin, end, first_day, last_day):
        """The daily windows of the period, as (from, to). A window is of the day on which it begins: an instant cuts it, the
        end of a day does not."""
        def minute(name, default):
            text = parameters.get(name)
            return default if text is None else int(text[:2]) * 60 + int(text[3:])

        first = minute("filter[start_time]", days.starts_at)
        last = minute("filter[end_time]", days.starts_at or 24 * 60)
        if "filter[start_time]" in parameters and "filter[end_time]" in parameters and first == last:
            raise Refused("filter[end_time]")
        if (first, last) in ((0, 24 * 60), (days.starts_at, days.starts_at or 24 * 60)):
            return [(begin, end)]
        length = last - first if last > first else last - first + 24 * 60
        windows = []
        date, until = first_day or days.of(begin) - ONE_DAY, last_day or days.of(end - 1)
        while date <= until:
            opens_on = date + ONE_DAY * (first < days.starts_at)
            window = minute_of(days.zone, opens_on, first), minute_of(days.zone, opens_on, first + length)
            windows.append((window[0] if first_day else max(window[0], begin), window[1] if last_day else min(window[1], end)))
            date += ONE_DAY
        return windows

    def sorted(self, rows, parameters, default):
        """`rows` are sorted by id; rows with equal keys keep that order in both directions."""
        sort = parameters.get("sort", default)
        rows.sort(key=lambda row: row[sort.lstrip("-")], reverse=sort.startswith("-"))
        return rows

    def rendered(self, rows, parameters, default, units):
        """`units`: {field: its decimals}; the figures are whole numbers."""
        rows = self.sorted(rows, parameters, default)
        shown = [{name: Scaled(value, units[name]) if name in units else value for name, value in row.items()}
                 for row in rows]
        return paged([to_json(row, shortest=True) for row in shown], parameters)

    # Reports: payments.
    def payments(self, parameters):
        """(payment, whether it counts, whether it counts as cancelled)"""
        if parameters.get("filter[by]", "order").lower() == "order":
            for record, counts in self.sold(parameters):
                for payment in record["payments"]:
                    canceled = payment["canceled_at"] is not None
                    yield payment, counts and not canceled, canceled
            return
        is_in = self.intervals(parameters)
        for row, _ in self.chosen_for_report(parameters):
            for payment in row.record["payments"]:
                canceled_at = payment["canceled_at"]
                yield (payment, is_in(parse_ms(payment["created_at"])),
                       canceled_at is not None and is_in(parse_ms(canceled_at)))

    def by_payment_methods(self, parameters):
        sums = collections.defaultdict(collections.Counter)
        for payment, counts, canceled in self.payments(parameters):
            row = sums[payment["payment_method"]["id"]]
            if canceled:
                row.update(canceled_count=1, canceled_total=whole(payment["amount"], self.places))
            if counts:
                row.update(count=1, sum_total=whole(payment["amount"], self.places),
                           tips_total=whole(payment["tip_amount"], self.places))
        rows = [{**self.method(id), **{name: row[name] for name in (
                    "count", "sum_total", "tips_total", "canceled_count", "canceled_total")}}
                for id, row in sorted(sums.items()) if row["count"] or row["canceled_count"]]
        return self.rendered(rows, parameters, "-sum_total",
                             dict.fromkeys(["sum_total", "tips_total", "canceled_total"], self.places))

    def by_tips(self, parameters):
        sums = collections.defaultdict(collections.Counter)
        for payment, counts, _ in self.payments(parameters):
            tip = whole(payment["tip_amount"], self.places)
            if counts and tip > 0:
                sums[payment["payment_method"]["id"]].update(count=1, sum_total=tip)
        rows = [{**self.method(id), "count": row["count"], "sum_total": row["sum_total"]}
                for id, row in sorted(sums.items())]
        return self.rendered(rows, parameters, "-sum_total", {"sum_total": self.places})

    def method(self, id):
        code, description = self.methods[id]
        return {"payment_method_id": id, "code": code, "name": description}

    # Reports: lines.
    def products_sold(self, parameters):
        include = parameters.get("filter[include]", "products").lower()
        sold = collections.defaultdict(Sold)
        for record, counts in self.sold(parameters):
            for combo in record["combos"]:
                linked = combo["product_id"] is not None
                if linked == (include == "freehand"):
                    continue
                key = (combo["product_id"], combo["variant_id"] or "") if linked else (combo["product_name"],)
                self.add(combo, counts, sold[key], include == "products_modifiers")
        rows = [self.sold_row(key, row) for key, row in sorted(sold.items()) if row.quantity or row.canceled]
        return self.rendered(rows, parameters, "-product_quantity", {
            "product_quantity": 3, "canceled_quantity": 3, "average_price": self.places, "total_sales": self.places})

    def add(self, combo, counts, row, with_modifiers):
        if combo["canceled_at"] is not None:
            row.canceled += whole(combo["quantity"], 3)
        elif counts:
            row.quantity += whole(combo["quantity"], 3)
            row.sales += whole(combo["combo_price"], self.places)
            for modifier in combo["modifiers"] if with_modifiers else []:
                sums = row.modifiers[modifier["name"]]
                sums[0] += whole(modifier["quantity"], 3)
                sums[1] += whole(modifier["price"], self.places)

    def sold_row(self, key, row):
        if len(key) == 2:
            product, variant = key[0], key[1] or None
            product_name, variant_name = self.menu[variant or product]
        else:
            product = variant = variant_name = None
            product_name, = key
        modifiers = sorted(row.modifiers.items(), key=lambda item: (-item[1][0], item[0].encode()))
        return {
            "product_id": product, "variant_id": variant, "product_name": product_name, "variant_name": variant_name,
            "product_quantity": row.quantity,
            "average_price": divided(row.sales * 1000, row.quantity) if row.quantity else 0,
            "total_sales": row.sales, "canceled_quantity": row.canceled,
            "modifiers": [{"modifier_name": name, "modifier_quantity": Scaled(quantity, 3),
                           "total_sales": Scaled(sales, self.places)} for name, (quantity, sales) in modifiers]}
