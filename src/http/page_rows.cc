#include "http/page_rows.h"

#include <algorithm>
#include <utility>

namespace comanda::http {
namespace {

constexpr size_t kTailBytes = 256;  // pagination
constexpr size_t kReservedAtOnce = 1024 * 1024;
// The first row may be much larger than the others.
constexpr size_t kExpectedMax = 256 * 1024;

}  // namespace

void PageRows::RefusePage() const {
  const size_t begun = parts_ > 0 ? parts_ : count();
  const size_t fits = std::min<size_t>(begun == 0 ? 0 : begun - 1, kPerPageMax);
  const std::string name = "per_page";
  const std::string message =
      fits > 0 ? "makes an answer of more than 16 MiB here; per_page=" + std::to_string(fits) +
                     " is the largest that fits."
               : "does not help: one row alone has more than 16 MiB here; read it by its id, with "
                 "page and per_page where it lists more.";
  throw Refusal(Problem::kInvalidParameter, name + ": " + message,
                {{name, FieldCode::kOutOfRange, message}});
}

// The bytes of the rows that are missing, where those that were begun have `wanted`.
size_t PageRows::Missing(size_t wanted) const {
  if (expected_ == 0 || count() == 0) return wanted;
  const size_t missing = wanted / count() * (expected_ - std::min(expected_, count()));
  return std::clamp(missing, wanted / 4, std::max(wanted, kExpectedMax));
}

void PageRows::Require(size_t bytes) {
  const size_t wanted = body_.size() + bytes + kTailBytes;
  if (wanted > kLargeAnswerBytes && !may_be_large_) throw LargePage();
  if (wanted > kAnswerBytesMax) RefusePage();
  if (lease_ == nullptr || wanted <= body_.capacity()) return;
  // std::string would grow to twice its capacity; this way it grows only by what is counted.
  const size_t more = may_be_large_ ? std::max(kReservedAtOnce, wanted / 4) : Missing(wanted);
  const size_t capacity = wanted + more;
  if (!lease_->TryReserve(capacity)) throw AnswerBudget::NoRoom();
  body_.reserve(capacity);
}

std::string& PageRows::Begin() {
  if (count() > 0) body_ += ',';
  begins_.push_back(body_.size());
  return body_;
}

void PageRows::Add(std::string_view row) {
  Begin();
  const bool is_alone = count() == 1 && body_.size() + row.size() + kTailBytes > kAnswerBytesMax;
  if (!is_alone) Require(row.size() + 1);
  body_ += row;
}

void PageRows::MoveLast(size_t place) {
  if (place + 1 >= count()) return;
  body_ += ',';
  const auto at = [&](size_t row) { return body_.begin() + static_cast<ptrdiff_t>(begins_[row]); };
  const size_t size = body_.size() - begins_.back();
  std::rotate(at(place), at(count() - 1), body_.end());
  body_.pop_back();
  for (size_t row = count() - 1; row > place; --row) begins_[row] = begins_[row - 1] + size;
}

std::string PageRows::End(std::string_view tail) {
  body_ += tail;
  return std::move(body_);
}

std::string PageRows::End(const Paging& paging, int64_t total) {
  return End(ListTail(paging, total));
}

}  // namespace comanda::http
