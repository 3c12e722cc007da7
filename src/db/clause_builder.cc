#include "db/clause_builder.h"

#include "base/check.h"

#include <utility>

namespace comanda::db {

ClauseBuilder::ClauseBuilder(Sql base, std::vector<Bound> values)
    : base_(base.text()), sql_(base.text()), values_(std::move(values)) {}

ClauseBuilder& ClauseBuilder::And(Sql clause) {
  sql_ += " AND ";
  sql_ += clause.text();
  return *this;
}

ClauseBuilder& ClauseBuilder::And(Sql clause, Bound value) {
  sql_ += " AND ";
  Append(clause, NextParameter(value));
  return *this;
}

ClauseBuilder& ClauseBuilder::And(Sql clause, const std::vector<Bound>& list) {
  std::string parameters;
  for (const Bound& value : list) {
    if (!parameters.empty()) parameters += ", ";
    parameters += NextParameter(value);
  }
  sql_ += " AND ";
  Append(clause, parameters.empty() ? "NULL" : parameters);
  return *this;
}

ClauseBuilder& ClauseBuilder::AndEach(Sql clause, const std::vector<Bound>& values) {
  sql_ += " AND ";
  std::string_view rest = clause.text();
  for (const Bound& value : values) {
    const size_t hole = rest.find("{}");
    CHECK(hole != rest.npos, "a clause has a place for each value");
    sql_ += rest.substr(0, hole);
    sql_ += NextParameter(value);
    rest.remove_prefix(hole + 2);
  }
  sql_ += rest;
  return *this;
}

ClauseBuilder& ClauseBuilder::OrderBy(Sql clause) {
  sql_ += " ORDER BY ";
  sql_ += clause.text();
  return *this;
}

ClauseBuilder& ClauseBuilder::Limit(int64_t limit, int64_t offset) {
  sql_ += " LIMIT " + NextParameter(limit);
  sql_ += " OFFSET " + NextParameter(offset);
  return *this;
}

ClauseBuilder& ClauseBuilder::EndSubquery(Sql closing) {
  sql_ += closing.text();
  return *this;
}

void ClauseBuilder::Append(Sql clause, std::string_view in_place_of_braces) {
  std::string_view rest = clause.text();
  for (size_t braces = rest.find("{}"); braces != rest.npos; braces = rest.find("{}")) {
    sql_ += rest.substr(0, braces);
    sql_ += in_place_of_braces;
    rest.remove_prefix(braces + 2);
  }
  sql_ += rest;
}

std::string ClauseBuilder::NextParameter(Bound value) {
  values_.push_back(value);
  return "$" + std::to_string(values_.size());
}

}  // namespace comanda::db
