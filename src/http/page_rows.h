#pragma once

// The body of a list while its rows are read: they are joined as they come, so that a page is in
// memory once and reading ends before it is too large (contract section 1, Budgets in bytes).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "http/answer_budget.h"
#include "http/query.h"

namespace comanda::http {

// An answer has at most so many bytes.
inline constexpr size_t kAnswerBytesMax = 16 * 1024 * 1024;
// One with more is large: it is made in turn (http/answer_budget.h).
inline constexpr size_t kLargeAnswerBytes = 1024 * 1024;

// Thrown by PageRows where a page turns out to be large and it is not its turn: Context::ReadPage
// catches it, waits for the turn and reads the page again.
struct LargePage {};

class PageRows {
 public:
  static constexpr std::string_view kListHead = R"({"data":[)";

  // A page of whatever size.
  explicit PageRows(std::string_view head = kListHead) : body_(head) {}
  // A page that is large only in its turn, and counted by the lease.
  PageRows(std::string_view head, AnswerBudget::Lease& lease, bool has_turn)
      : lease_(&lease), may_be_large_(has_turn), body_(head) {}

  // One more row, which is JSON. A page's only row is taken whatever its size: what GET of that
  // record shows. Refusal invalid_parameter that names the largest per_page that fits,
  // service_unavailable where there is no room for the answer now. Throws LargePage.
  void Add(std::string_view row);

  // The same for a row that is put together in place: Begin() gives the text to append to, and
  // Require() is asked before so many bytes are appended.
  std::string& Begin();
  void Require(size_t bytes);

  size_t count() const { return count_; }

  // The whole body; nothing can be added after that.
  std::string End(std::string_view tail);
  std::string End(const Paging& paging, int64_t total);  // of a list

 private:
  [[noreturn]] void RefusePage() const;

  AnswerBudget::Lease* lease_ = nullptr;
  bool may_be_large_ = true;
  std::string body_;
  size_t count_ = 0;  // rows begun
};

}  // namespace comanda::http
