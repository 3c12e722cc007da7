"""A PostgreSQL server of the distribution, in a directory of its own, on a socket in it."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

from support.waiting import PATIENCE_S

USER = "postgres"  # the package makes it; the server refuses root


def programs():
    """Of the newest version that is installed."""
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    assert found, "no PostgreSQL: scripts/bootstrap test"
    assert int(found[-1].parts[-3]) >= 15, f"{found[-1]}: 15 or later is promised"
    return found[-1].parent


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

    def _psql(self, script, *options):
        return subprocess.run([str(self.bin / "psql"), "-X", "-q", "-h", self.directory, "-U", USER, "-d", "postgres", *options],
                              input=script, capture_output=True, text=True, timeout=PATIENCE_S * 10,
                              env={**os.environ, "LC_ALL": "C", "PGCLIENTENCODING": "UTF8"})

    def errors(self, statements):
        """What the server says of each, in their order: its error, or nothing."""
        script = "".join(f"\\warn @@{n}\n{sql}\n;\n" for n, sql in enumerate(statements))
        done = self._psql(script)
        parts = re.split(r"^@@(\d+)\n", done.stderr, flags=re.M)
        assert parts[1::2] == [str(n) for n in range(len(statements))], done.stderr
        return [part.strip() for part in parts[2::2]]

    def rows(self, query, schema="public"):
        """As dictionaries by the names of the columns."""
        return json.loads(self.psql(f"SET search_path = {schema};\nSELECT coalesce(json_agg(r), '[]') FROM ({query}) AS r;"))

    def psql(self, script):
        """What the script prints, bare; it fails with its first error."""
        done = self._psql(script, "-v", "ON_ERROR_STOP=1", "-A", "-t", "-P", "pager=off")
        assert done.returncode == 0, done.stderr
        return done.stdout

    def errors_of_preparing(self, statements):
        return self.errors([f"PREPARE s{n} AS {sql}" for n, sql in enumerate(statements)])
