"""A PostgreSQL server of the distribution for a run of the tests, and in it a database for each box.

The server listens on a socket in a directory of its own, and on no network. The process that pytest began as starts it, its
workers find it by COMANDA_POSTGRESQL. A shell stops it and deletes its directory when that process ends, in whatever way."""

import contextlib
import hashlib
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import weakref

import psycopg2
import psycopg2.extensions

from support.waiting import PATIENCE_S, wait_until

USER = "postgres"  # the package makes it; the server refuses root
ROLE = "comanda"  # what the program logs in as; owns the boxes' databases
CONNECTIONS_MAX = 400
ADDRESS = "COMANDA_POSTGRESQL"  # the environment variable with the server's directory

# The pipe ends with the process that holds its other side.
SHELL = """
"$@" >"$DIRECTORY/log" 2>&1 &
read -r _
kill -QUIT $!
wait
rm -rf "$DIRECTORY"
"""

# sum() of integers has the type numeric.
psycopg2.extensions.register_type(psycopg2.extensions.new_type(
    (1700,), "INTEGER", lambda text, _: None if text is None else int(text)))


def programs():
    """Of the newest version that is installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    assert found, "no PostgreSQL: scripts/bootstrap test"
    assert int(found[-1].parts[-3]) >= 15, f"{found[-1]}: 15 or later is promised"
    return found[-1].parent


def connect(directory, database, user, **named):
    """A connection without transactions of its own."""
    connection = psycopg2.connect(host=directory, dbname=database, user=user, **named)
    connection.autocommit = True
    return connection


class Server:
    """`options` are further words for `postgres`, `hba` the text of pg_hba.conf in place of "trust". `copy_of`: a standby of that
    server, until promote()."""

    def __init__(self, options=(), hba=None, copy_of=None):
        self.directory = tempfile.mkdtemp(prefix="comanda-pg-")
        os.chmod(self.directory, 0o755)
        as_user = {}
        if os.geteuid() == 0:
            shutil.chown(self.directory, USER)
            as_user = {"user": USER, "group": USER, "extra_groups": []}
        how = {"cwd": "/", "env": {**os.environ, "LC_ALL": "C", "DIRECTORY": self.directory}, **as_user}
        self.data = data = self.directory + "/data"
        self.how, self.is_stopped = how, False
        words = ["initdb", "-D", data, "-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync"]
        if copy_of:
            words = ["pg_basebackup", "-D", data, "-h", copy_of.directory, "-U", USER, "-R", "-c", "fast", "--no-sync"]
        try:
            made = subprocess.run([programs() / words[0], *words[1:]], **how, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=PATIENCE_S * 10)
            assert made.returncode == 0, made.stdout
        except BaseException:
            shutil.rmtree(self.directory)
            raise
        if hba:
            pathlib.Path(data, "pg_hba.conf").write_text(hba)
        self.options = ["-k", self.directory, "-c", "listen_addresses=", "-c", f"max_connections={CONNECTIONS_MAX}", "-c",
                        "max_wal_size=512MB", *options]
        # In a session of its own: Ctrl-C is for pytest, which then ends.
        self.shell = subprocess.Popen(
            ["sh", "-c", SHELL, "sh", programs() / "postgres", "-D", data, *self.options],
            **how, stdin=subprocess.PIPE, start_new_session=True)
        try:
            with_admin = wait_until(self._answers, self.log_text)
            if not copy_of:
                with_admin.cursor().execute(f"CREATE ROLE {ROLE} LOGIN IN ROLE pg_monitor")
            with_admin.close()
        except BaseException:
            self.close()
            raise

    def _answers(self):
        try:
            return connect(self.directory, "postgres", USER)
        except psycopg2.OperationalError:
            return None

    def promote(self):
        """A standby becomes a primary, of another timeline."""
        assert _as_admin(self.directory, "SELECT pg_promote()") == [(True,)]

    def log_text(self):
        return pathlib.Path(self.directory, "log").read_text(errors="replace")

    def run(self, *words):
        """A program of its user, in its data directory; what it said."""
        done = subprocess.run([str(word) for word in words], **{**self.how, "cwd": self.data}, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, timeout=PATIENCE_S * 4)
        assert done.returncode == 0, (words, done.stdout)
        return done.stdout

    def stop(self):
        """Its directory stays, until close()."""
        self.run(programs() / "pg_ctl", "-D", self.data, "-m", "fast", "-w", "stop")
        self.is_stopped = True

    def start_again(self):
        self.run(programs() / "pg_ctl", "-D", self.data, "-w", "-t", "120", "-l", self.directory + "/log", "-o",
                 " ".join(shlex.quote(word) for word in self.options), "start")

    def close(self):
        if self.is_stopped:  # the shell does not know the one that was started again
            with contextlib.suppress(AssertionError):
                self.run(programs() / "pg_ctl", "-D", self.data, "-m", "immediate", "-w", "stop")
        self.shell.stdin.close()
        self.shell.wait(PATIENCE_S)


class Connection:
    """Statements have a ? for each value, as those for SQLite."""

    def __init__(self, connection):
        self.connection = connection

    def rows(self, sql, *values):
        with self._executed(sql, values) as cursor:
            return cursor.fetchall()

    def execute(self, sql, *values):
        """How many rows it changed."""
        with self._executed(sql, values) as cursor:
            return cursor.rowcount

    def _executed(self, sql, values):
        return self.run(sql.replace("%", "%%").replace("?", "%s"), values)

    def run(self, sql, values=None):
        """One that has PostgreSQL's own signs."""
        cursor = self.connection.cursor()
        cursor.execute(sql, values)
        return cursor

    def tables(self):
        return [name for (name,) in self.rows("SELECT tablename FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1")]

    def lock(self):
        """Until unlock(), nobody else writes."""
        self.execute("BEGIN")
        self.execute("LOCK TABLE company_counter IN EXCLUSIVE MODE")

    def unlock(self):
        self.execute("ROLLBACK")

    def close(self):
        self.connection.close()


class Database:
    """One of a server. It goes when no box of this process has it any more: drop_unused()."""

    used = weakref.WeakSet()
    made = {}  # name: directory of the server

    def __init__(self, directory, name):
        self.directory, self.name = directory, name
        Database.used.add(self)
        if not _as_admin(directory, f"SELECT 1 FROM pg_database WHERE datname = '{name}'"):
            _as_admin(directory, f"CREATE DATABASE {name} OWNER {ROLE} TEMPLATE template0 ENCODING UTF8 LOCALE 'C'")
            Database.made[name] = directory

    @staticmethod
    def of(data):
        """Of a box with that data directory, on the server of the run."""
        return Database(os.environ[ADDRESS], "box_" + hashlib.sha256(str(data.absolute()).encode()).hexdigest()[:16])

    @property
    def settings(self):
        """What the settings file of the box says of it."""
        return f"database = host={self.directory} dbname={self.name} user={ROLE}\n"

    def connect(self, env="live", writes=True, user=ROLE):
        """To the schema of the sandbox or of the restaurants."""
        readonly = "off" if writes else "on"
        return Connection(connect(self.directory, self.name, user,
                                  options=f"-c search_path={env} -c default_transaction_read_only={readonly}"))

    def contents(self):
        """All rows, as bytes."""
        found = []
        for env in ("live", "test"):
            with contextlib.closing(self.connect(env, writes=False)) as connection:
                found += [connection.rows(f'SELECT * FROM "{table}"') for table in connection.tables()]
        return str(found).encode()

    def drop(self):
        _drop(self.name)


def _as_admin(directory, sql):
    connection = connect(directory, "postgres", USER)
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            return cursor.fetchall() if cursor.description else []
    finally:
        connection.close()


def _drop(name):
    if directory := Database.made.pop(name, None):
        _as_admin(directory, f"DROP DATABASE {name} WITH (FORCE)")


def drop_unused():
    for name in Database.made.keys() - {database.name for database in Database.used}:
        _drop(name)
