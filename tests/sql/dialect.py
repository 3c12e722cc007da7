"""What the engine of comanda-head says, as comanda_dialect prints it (dialect.cc)."""

import subprocess

from support.box import BINARY
from support.waiting import PATIENCE_S

COLUMNS = ("kind", "of_table", "name", "definition", "detail")  # of catalogue_query()


def _said(verb, text=""):
    done = subprocess.run([BINARY.parent / "comanda_dialect", verb], input=text, capture_output=True, text=True,
                          timeout=PATIENCE_S * 4)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\0")[:-1]


def translated(migration):
    """Its statements in PostgreSQL's words."""
    return _said("translate", migration)


def schema():
    """The statements that make the schema, as comanda-head runs them."""
    return _said("migrations")


def catalogue_query():
    (query,) = _said("catalogue")
    return query


def compared(found, wanted):
    """What differs between two answers to that query; what forbids to serve begins with an exclamation mark."""
    texts = [str(len(found)), *(row[column] for row in found + wanted for column in COLUMNS)]
    return _said("compare", "".join(text + "\0" for text in texts))
