#include "webhooks/kinds.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"
#include "crypto/derived_id.h"
#include "json/reader.h"

namespace comanda::webhooks {
namespace {

bool HasWord(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (TakePiece(list, ',') == word) return true;
  }
  return false;
}

// `paid` is in changes[] also where a payment was cancelled and the order is paid no longer.
bool IsPaid(std::string_view body) {
  const json::Document document = json::Document::Parse(body);
  const json::Value root = document.root();
  if (root.kind() != json::Kind::kObject) return false;
  const std::optional<json::Value> paid = root.Find("paid");
  return paid && paid->kind() == json::Kind::kBoolean && paid->boolean();
}

}  // namespace

std::optional<Kind> FindKind(std::string_view name) {
  const auto row = std::ranges::find(kKinds, name, &KindRow::name);
  return row == kKinds.end() ? std::nullopt : std::optional(row->kind);
}

Kinds Kinds::OfLog() {
  Kinds kinds;
  for (const KindRow& row : kKinds) {
    if (row.is_of_log) kinds.Add(row.kind);
  }
  return kinds;
}

Kinds Kinds::Default() {
  Kinds kinds;
  for (const Kind kind : {Kind::kOrderCreated, Kind::kOrderUpdated, Kind::kOrderDeleted}) {
    kinds.Add(kind);
  }
  return kinds;
}

std::string Kinds::Text() const {
  if (*this == OfLog()) return std::string(kEveryKind);
  std::string text;
  for (const KindRow& row : kKinds) {
    if (!Has(row.kind)) continue;
    if (!text.empty()) text += ',';
    text += row.name;
  }
  return text;
}

Kinds Kinds::Parse(std::string_view text) {
  Kinds kinds;
  while (!text.empty()) {
    const std::string_view word = TakePiece(text, ',');
    if (word == kEveryKind) kinds = OfLog();
    if (const auto kind = FindKind(word)) kinds.Add(*kind);
  }
  return kinds;
}

bool NeedsBody(Kinds kinds, const LoggedChange& change) {
  return kinds.Has(Kind::kOrderPaid) && change.type == Name(Kind::kOrderUpdated) &&
         HasWord(change.changes, "paid");
}

std::vector<Kind> MessagesOf(Kinds kinds, const LoggedChange& change) {
  std::vector<Kind> messages;
  const auto own = FindKind(change.type);
  if (own && kinds.Has(*own)) messages.push_back(*own);
  if (own != Kind::kOrderUpdated) return messages;
  const bool is_cancel = HasWord(change.changes, "cancelled");
  if (kinds.Has(Kind::kOrderStatusChanged) && (is_cancel || HasWord(change.changes, "status"))) {
    messages.push_back(Kind::kOrderStatusChanged);
  }
  if (kinds.Has(Kind::kOrderCancelled) && is_cancel) messages.push_back(Kind::kOrderCancelled);
  if (NeedsBody(kinds, change) && IsPaid(change.body)) messages.push_back(Kind::kOrderPaid);
  return messages;
}

void Selection::Set(int64_t after_seq, Kinds kinds) {
  std::erase_if(steps_, [&](const Step& step) { return step.after_seq >= after_seq; });
  steps_.push_back({after_seq, kinds});
}

Kinds Selection::At(int64_t seq) const {
  Kinds kinds;
  for (const Step& step : steps_) {
    if (step.after_seq < seq) kinds = step.kinds;
  }
  return kinds;
}

Kinds Selection::Last() const { return steps_.empty() ? Kinds() : steps_.back().kinds; }

void Selection::ForgetBefore(int64_t seq) {
  while (steps_.size() > 1 && steps_[1].after_seq <= seq) steps_.erase(steps_.begin());
}

std::string Selection::Text() const {
  std::string text;
  for (const Step& step : steps_) {
    if (!text.empty()) text += ' ';
    text += std::to_string(step.after_seq) + ":" + step.kinds.Text();
  }
  return text;
}

Selection Selection::Parse(std::string_view text) {
  Selection selection;
  while (!text.empty()) {
    std::string_view kinds = TakePiece(text, ' ');
    const std::string_view position = TakePiece(kinds, ':');
    int64_t after_seq = 0;
    std::from_chars(position.data(), position.data() + position.size(), after_seq);
    selection.steps_.push_back({after_seq, Kinds::Parse(kinds)});
  }
  return selection;
}

std::string MessageId(std::string_view event_id, Kind kind) {
  if (kKinds[static_cast<size_t>(kind)].is_of_log) return std::string(event_id);
  return crypto::DerivedId(event_id, Name(kind));
}

}  // namespace comanda::webhooks
