"""Every statement of the program is one that PostgreSQL 15 or later prepares, unchanged, on the same schema with BIGINT
for INTEGER and without STRICT and WITHOUT ROWID."""

import re

import pytest

import source
from dialect import schema
from preparing import errors, errors_of_preparing
from source import closed

# Whatever stands before the alias: FROM orders o, JOIN client c, (VALUES …) AS n.
ALIAS = re.compile(r"(?:\b(?:FROM|JOIN)\s+\w+\s+(?!AS\b)|\bAS\s+)(\w+)\b")
AGGREGATE = re.compile(r"\s*SELECT\s+(?:count|sum|min|max|coalesce)\s*\(")
ENDED = re.compile(r"\b(ORDER BY|GROUP BY|LIMIT|RETURNING)\b")


@pytest.fixture(scope="module")
def files():
    return source.files()


@pytest.fixture(scope="module")
def restaurant(connection):
    """To a database with the schema."""
    assert [error for error in errors(connection, schema()) if error] == []
    return connection


def parameters(sql):
    return max(map(int, re.findall(r"\$(\d+)", sql)), default=0)


def filled(sql):
    """With two rows for the braces of a base."""
    n = parameters(sql)
    return sql.replace("{}", f"(CAST(${n + 1} AS BIGINT)), (${n + 2})")


def scope_of(base, clause):
    """The base as far as the clause belongs to it: inside its open subquery, or behind it."""
    return base if ALIAS.findall(base)[-1] in aliases(clause) else closed(base)


def narrowed(base, clause):
    """A base with a condition, whose braces are the next two parameters where they are a list, else the next one."""
    n = parameters(base)
    return scope_of(base, clause) + " AND " + clause.replace("IN ({})", f"IN (${n + 1}, ${n + 2})").replace("{}", f"${n + 1}")


def sorted_by(base, clause):
    n = parameters(base)
    return f"{scope_of(base, clause)} ORDER BY {clause} LIMIT ${n + 1} OFFSET ${n + 2}"


def aliases(clause):
    """Those that the statement around it must have."""
    return set(re.findall(r"\b([a-z]\w*)\.", clause)) - set(ALIAS.findall(clause))


def bases(files, file, clause):
    """The statements of the file's room that can take the clause: the builder's, which end in a condition."""
    return [filled(text) for other in files if other.path.parent == file.path.parent for text, _ in other.statements
            if text.lstrip().startswith("SELECT") and not ENDED.search(text) and aliases(clause) and
            aliases(clause) <= set(ALIAS.findall(text))]


def complain(places, statements, errors):
    return [f"{place}: {error}\n    {sql}" for place, sql, error in zip(places, statements, errors) if error]


def test_the_server_takes_every_statement(restaurant, files):
    found = [(f"{file}:{line}", closed(filled(text))) for file in files for text, line in file.statements]
    places, statements = zip(*found)
    assert complain(places, statements, errors_of_preparing(restaurant, statements)) == []


def test_the_server_takes_every_clause_of_a_list(restaurant, files):
    places, statements = [], []
    for file in files:
        for clause, line in file.conditions:
            found = [narrowed(base, clause) for base in bases(files, file, clause)]
            assert found, f"{file}:{line}: no statement of the room takes {clause} (its columns need their table's alias)"
            places += [f"{file}:{line}"] * len(found)
            statements += found
        for clause, line in file.sorts:
            found = [sorted_by(base, clause) for base in bases(files, file, clause) if not AGGREGATE.match(base)]
            assert found, f"{file}:{line}: no statement of the room takes {clause} (its columns need their table's alias)"
            places += [f"{file}:{line}"] * len(found)
            statements += found
    statements = [closed(sql) for sql in statements]
    assert len(statements) > 20
    assert complain(places, statements, errors_of_preparing(restaurant, statements)) == []


def test_the_server_takes_every_piece_as_a_condition_or_a_sort(restaurant, files):
    """Those of tables of the rooms' own, of which the place does not say what they are for."""
    places, conditions, sorts = [], [], []
    for file in files:
        for clause, line in file.either:
            found = bases(files, file, clause)
            assert found, f"{file}:{line}: no statement of the room takes {clause} (its columns need their table's alias)"
            places.append(f"{file}:{line}")
            conditions.append(closed(narrowed(found[0], clause)))
            sorts.append(closed(sorted_by(next((base for base in found if not AGGREGATE.match(base)), found[0]), clause)))
    found = zip(errors_of_preparing(restaurant, conditions), errors_of_preparing(restaurant, sorts))
    assert complain(places, sorts, [as_sort if as_condition else "" for as_condition, as_sort in found]) == []


def test_no_statement_escapes(files):
    """What a plain search counts is what was looked at."""
    call = re.compile(rf"(?:\.|->)\s*(?:(?:Query|One)<|(?:{'|'.join(source.CALLS)}|And|AndEach|OrderBy)\()")
    for file in files:
        text = re.sub(r"//[^\n]*", "", file.path.read_text())
        if not re.search(r"db::(?:Session|Tx|Snapshot|ClauseBuilder)|\bdb/|store\.h", text):
            continue
        assert file.calls == len(call.findall(text)), f"{file}"
    assert sum(file.calls for file in files) > 100
    assert sum(len(file.statements) for file in files) > 100


def test_the_schema_says_what_both_understand(restaurant):
    assert any("CREATE TABLE orders" in sql for sql in schema())
    assert errors_of_preparing(restaurant, ["SELECT id FROM orders ORDER BY +id"])[0], "text has no plus there"
