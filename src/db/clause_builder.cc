#include "db/clause_builder.h"

namespace comanda::db {

ClauseBuilder::ClauseBuilder(std::string_view base, std::vector<Bound> values)
    : sql_(base), values_(std::move(values)) {}

ClauseBuilder& ClauseBuilder::And(std::string_view clause) { return AndWith(clause, ""); }

ClauseBuilder& ClauseBuilder::And(std::string_view clause, Bound value) {
  return AndWith(clause, NextParameter(value));
}

ClauseBuilder& ClauseBuilder::And(std::string_view clause, const std::vector<Bound>& list) {
  std::string parameters;
  for (const Bound& value : list) {
    if (!parameters.empty()) parameters += ", ";
    parameters += NextParameter(value);
  }
  return AndWith(clause, parameters.empty() ? "NULL" : parameters);
}

ClauseBuilder& ClauseBuilder::GroupBy(std::string_view clause) {
  sql_ += " GROUP BY ";
  sql_ += clause;
  return *this;
}

ClauseBuilder& ClauseBuilder::OrderBy(std::string_view clause) {
  sql_ += " ORDER BY ";
  sql_ += clause;
  return *this;
}

ClauseBuilder& ClauseBuilder::Limit(int64_t limit, int64_t offset) {
  sql_ += " LIMIT " + NextParameter(limit);
  sql_ += " OFFSET " + NextParameter(offset);
  return *this;
}

ClauseBuilder& ClauseBuilder::AndWith(std::string_view clause, std::string_view parameters) {
  sql_ += " AND ";
  for (size_t hole = clause.find("{}"); hole != clause.npos; hole = clause.find("{}")) {
    sql_ += clause.substr(0, hole);
    sql_ += parameters;
    clause.remove_prefix(hole + 2);
  }
  sql_ += clause;
  return *this;
}

std::string ClauseBuilder::NextParameter(Bound value) {
  values_.push_back(value);
  return "$" + std::to_string(values_.size());
}

}  // namespace comanda::db
