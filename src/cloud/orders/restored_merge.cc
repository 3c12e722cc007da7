#include "cloud/orders/restored_merge.h"

#include <algorithm>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "cloud/orders/next.h"

namespace comanda::cloud {
namespace {

using orders::Discount;

// The cancel of a row in the cloud; discounts are removed instead.
std::optional<UtcMs> EndOf(const auto& row) { return row.canceled_at; }
std::optional<UtcMs> EndOf(const Discount&) { return std::nullopt; }
void End(auto& row, UtcMs at) { row.canceled_at = at; }
void End(Discount&, UtcMs) {}

template <typename Kind>
void Add(std::vector<Kind>& here, const Rows&, const Kind& row) {
  here.push_back(row);
}
// Which discount is reduced first follows from their order: those that the cloud does not have yet
// are newer.
void Add(std::vector<Discount>& here, const Rows& mirror, const Discount& row) {
  const auto known = std::find_if(here.rbegin(), here.rend(),
                                  [&](const Discount& one) { return mirror.contains(one.id); });
  here.insert(known.base(), row);
}

template <typename Kind>
bool BringBackRows(std::vector<Kind>& here, Rows& mirror, const std::vector<Kind>& there,
                   const std::vector<std::string>& cloud_ids) {
  bool has_changed = false;
  for (size_t i = 0; i < there.size(); ++i) {
    const std::string& cloud_id = cloud_ids[i];
    if (cloud_id.empty()) continue;
    const std::optional<UtcMs> ended_at = EndOf(there[i]);
    const auto known = std::ranges::find(
        mirror, cloud_id,
        [](const auto& entry) -> const std::string& { return entry.second.cloud_id; });
    if (known == mirror.end()) {
      Add(here, mirror, there[i]);
      mirror[there[i].id] = {.is_cancelled = ended_at.has_value(), .cloud_id = cloud_id};
      has_changed = true;
      continue;
    }
    if (!ended_at) continue;
    known->second.is_cancelled = true;
    const auto row = std::ranges::find(here, known->first, &Kind::id);
    if (row == here.end() || EndOf(*row)) continue;
    End(*row, *ended_at);
    has_changed = true;
  }
  return has_changed;
}

bool RemoveDiscounts(std::vector<Discount>& here, Rows& mirror,
                     const std::vector<std::string>& cloud_ids) {
  bool has_changed = false;
  for (auto& known : mirror) {
    Row& row = known.second;
    const bool is_there = std::ranges::find(cloud_ids, row.cloud_id) != cloud_ids.end();
    if (row.is_cancelled || row.cloud_id.empty() || is_there) continue;
    row.is_cancelled = true;
    has_changed |=
        std::erase_if(here, [&](const Discount& one) { return one.id == known.first; }) > 0;
  }
  return has_changed;
}

// The bytes of the lines that both texts begin with, the line breaks behind them included.
size_t CommonLines(std::string_view one, std::string_view other) {
  const auto end = std::ranges::mismatch(one, other).in1 - one.begin();
  const size_t same = static_cast<size_t>(end);
  const bool is_whole_one = same == one.size() && (same == other.size() || other[same] == '\n');
  const bool is_whole_other = same == other.size() && same < one.size() && one[same] == '\n';
  if (is_whole_one) return same;
  if (is_whole_other) return same + 1;
  const size_t line_break = one.substr(0, same).rfind('\n');
  return line_break == one.npos ? 0 : line_break + 1;
}

// What was appended on each side stays: the lines that are here alone go behind those of the cloud,
// and are sent.
std::optional<std::string> MergedComment(const std::optional<std::string>& here,
                                         const std::optional<std::string>& there) {
  if (!here || !there) return here ? here : there;
  const std::string_view alone = std::string_view(*here).substr(CommonLines(*here, *there));
  return alone.empty() ? there : Appended(there, alone);
}

bool BringBackFields(orders::Order& order, Fields& mirror, const CloudRecord& record,
                     bool is_as_restored) {
  const Fields there = FieldsOf(record.order);
  const Fields before = FieldsOf(order);
  Fields here = before;
  ForEachField([&](std::string_view name, auto field) {
    const bool is_changed = record.fields.contains(name) && there.*field != mirror.*field;
    const bool is_taken = is_changed && (is_as_restored || here.*field == mirror.*field);
    if (is_taken) here.*field = there.*field;
  });
  here.comment = MergedComment(before.comment, there.comment);
  LearnFields(mirror, record);
  SetFields(order, here);
  return here != before;
}

}  // namespace

void LearnFields(Fields& mirror, const CloudRecord& record) {
  const Fields there = FieldsOf(record.order);
  const std::optional<std::string> comment = mirror.comment;
  ForEachField([&](std::string_view name, auto field) {
    if (record.fields.contains(name)) mirror.*field = there.*field;
  });
  // A cloud that shows no comment may keep it all the same: it is not appended a second time.
  if (!there.comment) mirror.comment = comment;
}

bool MergeRestored(orders::Order& here, Mirror& mirror, const CloudRecord& record,
                   bool is_as_restored) {
  const orders::Order& there = record.order;
  bool has_changed = BringBackFields(here, mirror.fields, record, is_as_restored);
  has_changed |= BringBackRows(here.combos, mirror.combos, there.combos, record.combo_ids);
  has_changed |= BringBackRows(here.payments, mirror.payments, there.payments, record.payment_ids);
  if (record.shows.discounts) {
    has_changed |= RemoveDiscounts(here.discounts, mirror.discounts, record.discount_ids);
  }
  has_changed |=
      BringBackRows(here.discounts, mirror.discounts, there.discounts, record.discount_ids);
  return has_changed;
}

}  // namespace comanda::cloud
