#pragma once

// The body of a list while its rows are read. Each row is appended to the body as it comes, so that
// a page is in memory only once, and reading stops before the page is too large (contract section
// 1, Budgets in bytes).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/answer_budget.h"
#include "http/query.h"

namespace comanda::http {

// The largest answer.
inline constexpr size_t kAnswerBytesMax = 16 * 1024 * 1024;
// An answer with more bytes is large: large answers are made one at a time (http/answer_budget.h).
inline constexpr size_t kLargeAnswerBytes = 1024 * 1024;

// Thrown by PageRows where a page turns out to be large and the request does not have the turn.
// Context::ReadPage() catches it, waits for the turn and reads the page again.
struct LargePage {};

class PageRows {
 public:
  static constexpr std::string_view kListHead = R"({"data":[)";

  // A page of any size.
  explicit PageRows(std::string_view head = kListHead) : body_(head) {}
  // A page that may be large only with the turn, and whose bytes are counted by the lease.
  PageRows(std::string_view head, AnswerBudget::Lease& lease, bool has_turn)
      : lease_(&lease), may_be_large_(has_turn), body_(head) {}

  // How many rows the page is expected to have: the body then grows at once for all that are
  // missing, as large as those that are there, and is not copied each time it doubles.
  void Expect(size_t rows) { expected_ = rows; }

  // Appends one row, which is JSON. Throws LargePage, or Refusal: invalid_parameter where the page
  // is too large, which names the largest per_page that fits; service_unavailable where there is no
  // room for the answer now.
  void Add(std::string_view row);
  // Appends one row in pieces: Begin() returns the text to append to; Require() is called before
  // that many bytes are appended, and throws as Add().
  std::string& Begin();
  void Require(size_t bytes);

  // Moves the row that was begun last before the one that is the `place`th, from 0: for an engine
  // that returns rows in another order than that of the page.
  void MoveLast(size_t place);

  // Of a body whose rows are not those that per_page counts: call before each of these.
  void CountPart() { ++parts_; }

  // Whether the answer may have more than kLargeAnswerBytes.
  bool may_be_large() const { return may_be_large_; }
  size_t count() const { return begins_.size(); }

  // Appends the tail and returns the whole body. The object is empty after that.
  std::string End(std::string_view tail);
  std::string End(const Paging& paging, int64_t total);  // of a list

 private:
  [[noreturn]] void RefusePage() const;
  size_t Missing(size_t wanted) const;

  AnswerBudget::Lease* lease_ = nullptr;
  bool may_be_large_ = true;
  std::string body_;
  std::vector<size_t> begins_;  // of the rows, in the body
  size_t parts_ = 0;            // parts begun
  size_t expected_ = 0;         // rows
};

}  // namespace comanda::http
