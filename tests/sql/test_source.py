"""The search for SQL reads C++ as the compiler does, and complains of what it does not understand."""

import pytest

import source

TEXT = r'''
#include "db/session.h"
#define COLUMNS \
  "k.id, k.name"
struct Ladder {
  db::Sql rows, ascending;
};
constexpr Ladder kLadder = {"o.at IS NOT NULL", "o.at, o.id"};
constexpr std::array kSorts = {ListSort{"name", "o.name, o.id", "o.name DESC, o.id DESC"}};
constexpr db::Sql kActive = "o.ends > {}";
void F(db::Session& session, bool down) {  // session.FindTexts("SELECT comment")
  session.FindTexts("SELECT " COLUMNS /* here */ " FROM k "
                "WHERE k.id = \"\x27\"", 'x', "SELECTED");
  static constexpr db::Sql kSelect = R"sql(
    SELECT "quoted" FROM k)sql";
  session.One<kSelect>(1'000);
  const db::Sql sql = down ? db::Sql("DELETE FROM k") : db::Sql("UPDATE k SET id = $1");
  tx->Run(sql);
  db::ClauseBuilder list("SELECT o.id FROM orders o WHERE o.company_id = $1", {company});
  list.And(down ? db::Sql("o.at < {}") : db::Sql("o.at > {}"), at).OrderBy(ReadSort(query, kSorts, "-name"));
}
'''


@pytest.fixture
def read(tmp_path, monkeypatch):
    monkeypatch.setattr(source, "ROOT", tmp_path)

    def read(text):
        path = tmp_path / "store.cc"
        path.write_text(text)
        return source.File(path)
    return read


def texts(found):
    return [text for text, _ in found]


def test_joins_literals_and_macros_to_statements(read):
    assert texts(read(TEXT).statements) == [
        'SELECT k.id, k.name FROM k WHERE k.id = "\\x27"', '\n    SELECT "quoted" FROM k', "DELETE FROM k",
        "UPDATE k SET id = $1", "SELECT o.id FROM orders o WHERE o.company_id = $1"]


def test_knows_the_pieces_by_where_they_are_taken(read):
    file = read(TEXT)
    assert texts(file.conditions) == ["o.at < {}", "o.at > {}"]
    assert texts(file.sorts) == ["o.name, o.id", "o.name DESC, o.id DESC"]
    assert set(texts(file.either)) >= {"o.at IS NOT NULL", "o.at, o.id", "o.ends > {}"}
    assert file.calls == 5


@pytest.mark.parametrize("call", ['session.GetInt("PRAGMA x")', 'session.Exists(name("SELECT 1"))', "sql.OrderBy(1)"])
def test_complains_of_what_it_does_not_understand(read, call):
    with pytest.raises(AssertionError, match="store.cc:1: "):
        read(f"void F() {{ {call}; }}")
