"""A PostgreSQL server of the distribution, in a directory of its own, on a socket in it."""

import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile

from source import ROOT
from support.waiting import PATIENCE_S

USER = "postgres"  # the package makes it; the server refuses root


def programs():
    """Of the newest version that is installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    assert found, "no PostgreSQL: scripts/bootstrap test"
    assert int(found[-1].parts[-3]) >= 15, f"{found[-1]}: 15 or later is promised"
    return found[-1].parent


def schema():
    """The statements of the schema, in the order of their making, with the two changes that PostgreSQL needs. What SQLite's
    planner is to assume (sqlite_stat1) is SQLite's own."""
    database = sqlite3.connect(":memory:")
    for path in sorted((ROOT / "src/app/migrations").glob("*.sql")):
        database.executescript(path.read_text())
    rows = database.execute("SELECT type, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' "
                            "ORDER BY type DESC, rowid").fetchall()
    for kind, sql in rows:
        assert kind in ("table", "index"), f"{kind}: not portable"
        sql = re.sub(r"--[^\n]*", "", sql)
        sql = re.sub(r"\bINTEGER\b", "BIGINT", sql)
        yield re.sub(r"\)\s*(STRICT|WITHOUT ROWID)(\s*,\s*(STRICT|WITHOUT ROWID))?\s*$", ")", sql)


class Server:
    def __init__(self):
        self.bin = programs()
        self.directory = tempfile.mkdtemp(prefix="comanda-pg-")
        os.chmod(self.directory, 0o755)
        if os.geteuid() == 0:
            shutil.chown(self.directory, USER)
        try:
            self._run("initdb", "-D", self.directory + "/data", "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync")
            self._run("pg_ctl", "-D", self.directory + "/data", "-l", self.directory + "/log", "-w", "-o",
                      f"-k {self.directory} -c listen_addresses='' -c fsync=off", "start")
        except BaseException:
            shutil.rmtree(self.directory)
            raise

    def close(self):
        try:
            self._run("pg_ctl", "-D", self.directory + "/data", "-m", "immediate", "stop")
        finally:
            shutil.rmtree(self.directory)

    def _run(self, program, *options):
        words = [str(self.bin / program), *options]
        if os.geteuid() == 0:
            words = ["runuser", "-u", USER, "--", *words]
        done = subprocess.run(words, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=PATIENCE_S * 10, env={**os.environ, "LC_ALL": "C"})
        assert done.returncode == 0, f"{program}: {done.stdout}"

    def errors(self, statements):
        """What the server says of each, in their order: its error, or nothing."""
        script = "".join(f"\\warn @@{n}\n{sql}\n;\n" for n, sql in enumerate(statements))
        done = subprocess.run([str(self.bin / "psql"), "-X", "-q", "-h", self.directory, "-U", USER, "-d", "postgres"],
                              input=script, capture_output=True, text=True, timeout=PATIENCE_S * 10,
                              env={**os.environ, "LC_ALL": "C", "PGCLIENTENCODING": "UTF8"})
        parts = re.split(r"^@@(\d+)\n", done.stderr, flags=re.M)
        assert parts[1::2] == [str(n) for n in range(len(statements))], done.stderr
        return [part.strip() for part in parts[2::2]]

    def errors_of_preparing(self, statements):
        return self.errors([f"PREPARE s{n} AS {sql}" for n, sql in enumerate(statements)])
