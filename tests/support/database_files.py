"""The files of a box's database, opened beside its server."""

import sqlite3

from support.waiting import PATIENCE_S


class Connection:
    def __init__(self, file, writes):
        mode = "rw" if writes else "ro"
        self.connection = sqlite3.connect(f"file:{file}?mode={mode}", uri=True, timeout=PATIENCE_S, isolation_level=None)

    def rows(self, sql, *values):
        return self.connection.execute(sql, values).fetchall()

    def execute(self, sql, *values):
        """How many rows it changed."""
        return self.connection.execute(sql, values).rowcount

    def tables(self):
        return [name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]

    def lock(self):
        """Until unlock(), nobody else writes."""
        self.execute("BEGIN IMMEDIATE")

    def unlock(self):
        self.execute("ROLLBACK")

    def close(self):
        self.connection.close()


class DatabaseFiles:
    settings = ""  # the program knows its files' names

    def __init__(self, data):
        self.data = data

    def connect(self, env="live", writes=True):
        return Connection(self.data / f"{env}.db", writes)

    def contents(self):
        """All that they hold, as bytes."""
        return b"".join(file.read_bytes() for file in self.data.glob("*.db*"))

    def drop(self):
        """They are deleted with the directory."""
