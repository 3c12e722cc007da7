#pragma once

// Collects what one check finds. A check continues after a deviation, so that all are reported.

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/reply.h"
#include "selftest/selftest.h"

namespace comanda::selftest {

using net::Find;
using net::Reply;
using net::Shown;
using net::TextAt;

// Who promises what a check verifies.
enum class Promise : uint8_t {
  kSpecification,
  // The contract adds it.
  kContract,
};

// Where a server is judged by the specification, deviations from what the contract adds are
// recorded as missing additions: all of a check of Promise::kContract; headers, problem codes and
// statuses that the specification does not name; the codes of errors[]; fields that are missing and
// that it does not name.
//
// The functions that return bool test one expectation, record a Difference if it is not met, and
// return whether it was: for checks that cannot continue otherwise. Paths are those of
// selftest::Find(). One thread.
class Finding {
 public:
  Finding(Yardstick yardstick, Promise promise)
      : is_lenient_(yardstick == Yardstick::kSpecification), promise_(promise) {}

  // Records a deviation.
  void Differs(std::string what, std::string expected, std::string got);
  // Records that the check could not be completed, and why. Deviations recorded before are kept.
  void NotChecked(std::string why);
  // Records that a field is missing.
  void Lacks(std::string_view field, std::string what, std::string expected);
  // A remark for the report, also if everything is as expected.
  void Note(std::string text) { note_ = std::move(text); }

  // Two texts are equal.
  bool Same(std::string what, std::string_view expected, std::string_view got);
  // `claim` holds; the texts are for the report.
  bool True(bool claim, std::string what, std::string expected, std::string got);

  // The answer has this status.
  bool Status(const Reply& reply, int expected, std::string_view what = "status");
  // A problem document (RFC 9457) with this status and code.
  bool Problem(const Reply& reply, int status, std::string_view code,
               std::string_view what = "status");
  // 422 validation_failed in which errors[] has this field with this code.
  bool Invalid(const Reply& reply, std::string_view field, std::string_view code,
               std::string_view what = "status");
  // The answer has this header.
  bool HasHeader(const Reply& reply, std::string_view name);

  // The value at the path is this text, number, boolean or null.
  bool Text(const Reply& reply, std::string_view path, std::string_view expected);
  bool Number(const Reply& reply, std::string_view path, std::string_view expected);
  bool Boolean(const Reply& reply, std::string_view path, bool expected);
  bool Null(const Reply& reply, std::string_view path);
  // The value is present and not null.
  bool Set(const Reply& reply, std::string_view path);
  // The value is an array without items.
  bool Empty(const Reply& reply, std::string_view path);

  // The object has every one of these members. `of` describes it in the report.
  bool Members(std::optional<json::Value> object, std::span<const std::string_view> names,
               std::string_view of);
  // The body is {"data": [...], "pagination": {...}}, and its numbers match its rows.
  bool List(const Reply& reply);
  // Both records are equal; else the first field that differs is reported.
  bool SameRecord(std::string_view what, std::optional<json::Value> expected,
                  std::optional<json::Value> got);

  // kDiffers if a deviation was recorded, else kNotChecked if NotChecked() was called, else
  // kNotServed if an addition is missing that the check is about, else kOk.
  Verdict result() const;
  // With the additions that are missing.
  std::string note() const;
  const std::vector<Difference>& differences() const { return differences_; }

 private:
  bool Lack(std::string_view path, std::string expected);
  void IsMissing(std::string addition);
  bool IsAddition(int status) const;

  bool is_lenient_;
  Promise promise_;
  std::vector<Difference> differences_;
  std::vector<std::string> missing_;  // additions
  bool not_checked_ = false;
  std::string note_;
};

}  // namespace comanda::selftest
