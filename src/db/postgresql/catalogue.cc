#include "db/postgresql/catalogue.h"

#include <map>
#include <set>
#include <tuple>

#include "base/concat.h"

namespace comanda::db {
namespace {

// The table, the kind, and the name; of a constraint, what it says.
using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
using Catalogue = std::map<Key, const CatalogueRow*>;

Catalogue ByKey(const std::vector<CatalogueRow>& rows) {
  Catalogue catalogue;
  for (const CatalogueRow& row : rows) {
    const bool is_constraint = row.kind == "constraint";
    catalogue[{row.of_table, row.kind, is_constraint ? row.definition : row.name}] = &row;
  }
  return catalogue;
}

std::set<std::string_view> Tables(const std::vector<CatalogueRow>& rows) {
  std::set<std::string_view> tables;
  for (const CatalogueRow& row : rows) {
    if (row.kind == "table") tables.insert(row.of_table);
  }
  return tables;
}

// "the column orders.total"
std::string NameOf(const CatalogueRow& row) {
  if (row.kind == "table") return Concat({"the table ", row.of_table});
  if (row.kind == "column") return Concat({"the column ", row.of_table, ".", row.name});
  return Concat({"the ", row.kind, " ", row.name, " of the table ", row.of_table});
}

Difference Missing(const CatalogueRow& row) {
  if (row.kind == "table" || row.kind == "column") return {NameOf(row) + " is missing", true};
  return {Concat({NameOf(row), " is missing: ", row.definition}), false};
}

Difference NotOurs(const CatalogueRow& row) {
  if (row.kind == "table") {
    return {Concat({"there is a table ", row.of_table, " that is not ours"}), false};
  }
  if (row.kind == "column") {
    return {Concat({"there is a column ", row.of_table, ".", row.name, " that is not ours"}),
            false};
  }
  const std::string_view article = row.kind == "index" ? "an " : "a ";
  return {Concat({"there is ", article, row.kind, " ", row.name, " on ", row.of_table,
                  " that is not ours: ", row.definition}),
          false};
}

// What is there in another form. The table and the column that have one forbid to serve: rows of an
// unlogged table are gone after a crash, and values of another type are refused or read wrongly.
void Compare(const CatalogueRow& found, const CatalogueRow& wanted,
             std::vector<Difference>& differences) {
  const bool is_column = wanted.kind == "column";
  if (found.definition != wanted.definition) {
    differences.push_back({Concat({NameOf(wanted), is_column ? " has type " : " is ",
                                   found.definition, ", must be ", wanted.definition}),
                           is_column || wanted.kind == "table"});
  }
  if (found.detail != wanted.detail) {
    differences.push_back(
        {Concat({NameOf(wanted), " is ", found.detail, ", must be ", wanted.detail}), false});
  }
}

}  // namespace

std::vector<Difference> Differences(const std::vector<CatalogueRow>& found,
                                    const std::vector<CatalogueRow>& wanted) {
  const Catalogue there = ByKey(found);
  const Catalogue ours = ByKey(wanted);
  const std::set<std::string_view> tables_there = Tables(found);
  const std::set<std::string_view> our_tables = Tables(wanted);
  std::vector<Difference> differences;
  // Both in the order of their keys.
  Catalogue all = ours;
  all.insert(there.begin(), there.end());
  for (const auto& [key, row] : all) {
    const auto theirs = there.find(key);
    const auto our = ours.find(key);
    const bool is_of_both =
        tables_there.contains(row->of_table) && our_tables.contains(row->of_table);
    if (!is_of_both && row->kind != "table") continue;
    if (theirs == there.end()) {
      differences.push_back(Missing(*row));
    } else if (our == ours.end()) {
      differences.push_back(NotOurs(*row));
    } else {
      Compare(*theirs->second, *our->second, differences);
    }
  }
  return differences;
}

}  // namespace comanda::db
