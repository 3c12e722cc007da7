#pragma once

// What one check finds out, gathered: a check goes on after a difference, so that all are told.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "selftest/reply.h"
#include "selftest/selftest.h"

namespace comanda::selftest {

// Every expectation returns whether it was met, for checks that cannot go on without it.
class Finding {
 public:
  void Differs(std::string what, std::string expected, std::string got);
  // What could not be looked at, and why; a difference found before stands.
  void NotChecked(std::string why);
  void Note(std::string text) { note_ = std::move(text); }

  bool Same(std::string what, std::string_view expected, std::string_view got);
  bool True(bool claim, std::string what, std::string expected, std::string got);

  bool Status(const Reply& reply, int expected, std::string_view what = "status");
  // A problem document of that status and code.
  bool Problem(const Reply& reply, int status, std::string_view code,
               std::string_view what = "status");
  // 422 validation_failed that names the field with the code.
  bool Invalid(const Reply& reply, std::string_view field, std::string_view code,
               std::string_view what = "status");
  bool HasHeader(const Reply& reply, std::string_view name);

  bool Text(const Reply& reply, std::string_view path, std::string_view expected);
  bool Number(const Reply& reply, std::string_view path, std::string_view expected);
  bool Boolean(const Reply& reply, std::string_view path, bool expected);
  bool Null(const Reply& reply, std::string_view path);
  bool Set(const Reply& reply, std::string_view path);    // there and not null
  bool Empty(const Reply& reply, std::string_view path);  // an array without items

  // Every name is a member of the object.
  bool Members(std::optional<json::Value> object, std::span<const std::string_view> names,
               std::string_view of);
  // {"data": [...], "pagination": {...}} with numbers that fit the rows.
  bool List(const Reply& reply);
  // Both records say the same; else the first field that does not.
  bool SameRecord(std::string_view what, std::optional<json::Value> expected,
                  std::optional<json::Value> got);

  Result result() const;
  const std::string& note() const { return note_; }
  const std::vector<Difference>& differences() const { return differences_; }

 private:
  std::vector<Difference> differences_;
  bool not_checked_ = false;
  std::string note_;
};

}  // namespace comanda::selftest
