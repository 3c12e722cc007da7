"""What each byte of an SQLite database file is for (https://sqlite.org/fileformat2.html): the page header, the column of a
row, a free page. Parses the file format, because a test that damages a byte must know what the byte is."""

import collections
import contextlib
import dataclasses
import sqlite3

TABLE_LEAF, TABLE_INTERIOR, INDEX_LEAF, INDEX_INTERIOR = 13, 5, 10, 2
# Bytes of a value by its serial type; above 11 it follows from the type.
FIXED_BYTES = {0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8, 7: 8, 8: 0, 9: 0}


@dataclasses.dataclass(frozen=True)
class Region:
    """Neighbouring bytes with one meaning."""
    offset: int
    length: int
    owner: str  # a table, an index, or "" for pages of none
    is_index: bool
    part: str  # a column, or one of: page header, cell pointers, cell header, record header, overflow pointer, free space
    order_id: str | None  # of the row, where it belongs to an order


def varint(data, at):
    """(value, position behind it)"""
    value = 0
    for n in range(8):
        byte = data[at + n]
        value = value << 7 | byte & 0x7f
        if byte < 0x80:
            return value, at + n + 1
    return value << 8 | data[at + 8], at + 9


def number(data, at, size):
    return int.from_bytes(data[at:at + size], "big")


class SqliteFile:
    """The regions of a database file that no process has open, without a write-ahead log. `order_ids`: a row belongs to
    the order whose id is its first such value."""

    def __init__(self, path, order_ids):
        self.data = path.read_bytes()
        self.page_bytes = number(self.data, 16, 2)
        self.usable = self.page_bytes - self.data[20]
        self.order_ids = {id.encode() for id in order_ids}
        self.regions = []
        with contextlib.closing(sqlite3.connect(f"file:{path}?immutable=1", uri=True)) as db:
            for kind, name, table, root in db.execute(
                    "SELECT type, name, tbl_name, rootpage FROM sqlite_schema WHERE rootpage > 0").fetchall():
                self._walk(root, name, kind == "index", self._columns(db, kind, name, table))
        self._walk_free_pages()

    @staticmethod
    def _columns(db, kind, name, table):
        """In the order in which a record holds them."""
        if kind == "index":
            found = db.execute("SELECT name FROM pragma_index_xinfo(?) ORDER BY seqno", (name,))
            return [column or "rowid" for (column,) in found]
        rows = db.execute("SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", (name,)).fetchall()
        without_rowid = "WITHOUT ROWID" in db.execute(
            "SELECT sql FROM sqlite_schema WHERE name = ?", (table,)).fetchone()[0]
        if without_rowid:
            return [n for n, pk in sorted((r for r in rows if r[1]), key=lambda r: r[1])] + [n for n, pk in rows if not pk]
        return [n for n, _ in rows]

    def _add(self, offset, length, part, order_id=None):
        if length > 0:
            self.regions.append(Region(offset, length, *self.owner, part, order_id))

    def _walk(self, root, name, is_index, columns):
        pages = collections.deque([root])
        while pages:
            page = pages.popleft()
            self.owner = name, is_index
            begin = (page - 1) * self.page_bytes
            header = begin + (100 if page == 1 else 0)
            kind, count = self.data[header], number(self.data, header + 3, 2)
            is_interior = kind in (TABLE_INTERIOR, INDEX_INTERIOR)
            header_bytes = 12 if is_interior else 8
            pointers = header + header_bytes
            self._add(header, header_bytes, "page header")
            self._add(pointers, 2 * count, "cell pointers")
            content = number(self.data, header + 5, 2) or 65536
            self._add(pointers + 2 * count, begin + content - pointers - 2 * count, "free space")
            block = number(self.data, header + 1, 2)
            while block:
                self._add(begin + block + 4, number(self.data, begin + block + 2, 2) - 4, "free space")
                block = number(self.data, begin + block, 2)
            for n in range(count):
                child = self._cell(begin + number(self.data, pointers + 2 * n, 2), kind, columns)
                if child:
                    pages.append(child)
            if is_interior:
                pages.append(number(self.data, header + 8, 4))

    def _cell(self, at, kind, columns):
        """The child page that it points to, or 0."""
        begin, child = at, 0
        if kind in (TABLE_INTERIOR, INDEX_INTERIOR):
            child, at = number(self.data, at, 4), at + 4
        if kind == TABLE_INTERIOR:
            self._add(begin, varint(self.data, at)[1] - begin, "cell header")
            return child
        size, at = varint(self.data, at)
        if kind == TABLE_LEAF:
            _, at = varint(self.data, at)
        segments, pointers = self._segments(at, size, kind)
        payload = b"".join(self.data[offset:offset + length] for offset, length in segments)
        cuts = self._record(payload, columns)
        values = (payload[start:end] for start, end, _ in cuts)
        order_id = next((v.decode() for v in values if v in self.order_ids), None)
        self._add(begin, at - begin, "cell header", order_id)
        for pointer in pointers:
            self._add(pointer, 4, "overflow pointer", order_id)
        for start, end, part in cuts:
            for offset, length in self._slice(segments, start, end):
                self._add(offset, length, part, order_id)
        return child

    def _segments(self, at, size, kind):
        """The location of a payload: [(offset, length)], and the pointers to its overflow pages."""
        usable = self.usable
        largest = usable - 35 if kind == TABLE_LEAF else (usable - 12) * 64 // 255 - 23
        local = size
        if size > largest:
            least = (usable - 12) * 32 // 255 - 23
            local = least + (size - least) % (usable - 4)
            local = local if local <= largest else least
        segments, pointers, rest = [(at, local)], [], size - local
        pointer = at + local
        while rest:
            pointers.append(pointer)
            pointer = (number(self.data, pointer, 4) - 1) * self.page_bytes
            length = min(rest, usable - 4)
            segments.append((pointer + 4, length))
            rest -= length
        return segments, pointers

    @staticmethod
    def _record(payload, columns):
        """[(begin, end, part)] of a record, in the payload."""
        end, at = varint(payload, 0)
        cuts, begin = [(0, end, "record header")], end
        for column in columns:
            if at >= end:
                break  # a row older than the column
            serial, at = varint(payload, at)
            length = FIXED_BYTES[serial] if serial in FIXED_BYTES else (serial - 12) // 2
            cuts.append((begin, begin + length, column))
            begin += length
        return cuts

    @staticmethod
    def _slice(segments, start, end):
        for offset, length in segments:
            if start < length and end > 0:
                first, last = max(start, 0), min(end, length)
                yield offset + first, last - first
            start, end = start - length, end - length

    def _walk_free_pages(self):
        self.owner = "", False
        trunk = number(self.data, 32, 4)
        while trunk:
            at = (trunk - 1) * self.page_bytes
            self._add(at, self.page_bytes, "free list")
            for n in range(number(self.data, at + 4, 4)):
                leaf = number(self.data, at + 8 + 4 * n, 4)
                self._add((leaf - 1) * self.page_bytes, self.page_bytes, "free space")
            trunk = number(self.data, at, 4)


def overwrite_a_page(path, tree):
    """Fills the last leaf of a table or an index with garbage. The file is in nobody's use."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        page = db.execute("SELECT max(pageno) FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (tree,)).fetchone()[0]
        page_bytes = db.execute("PRAGMA page_size").fetchone()[0]
    with open(path, "r+b") as file:
        file.seek((page - 1) * page_bytes)
        file.write(b"\xa5" * page_bytes)


def rows_of(path):
    """{table: its rows}, read without the indexes."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        tables = [name for name, in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()]
        return {table: db.execute(f'SELECT * FROM "{table}" NOT INDEXED').fetchall() for table in tables}
