#include "cloud/orders/row_match.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace comanda::cloud {
namespace {

using orders::Combo;
using orders::Discount;
using orders::Modifier;
using orders::Payment;

// How well a row of the cloud fits one of the box. From the best to the worst.
enum class Fit : uint8_t {
  kSame,   // in all that both sides show
  kShown,  // in all that the cloud shows
  kAlike,  // an item, in its name and quantity: the cloud may compute another price of it
};
constexpr std::array kFits = {Fit::kSame, Fit::kShown, Fit::kAlike};

bool IsShownSame(const std::string& cloud, const std::string& box) {
  return cloud.empty() || cloud == box;
}
bool IsShownSame(const std::optional<std::string>& cloud, const std::optional<std::string>& box) {
  return !cloud || cloud == box;
}

// Modifiers have no order of their own.
auto Sorted(const std::vector<Modifier>& modifiers, bool with_names) {
  std::vector<std::tuple<std::string, int64_t, Minor, Minor>> rows;
  for (const Modifier& modifier : modifiers) {
    rows.emplace_back(with_names ? modifier.name : "", modifier.quantity, modifier.price,
                      modifier.original_price);
  }
  std::ranges::sort(rows);
  return rows;
}

bool ModifiersFit(const Combo& cloud, const Combo& box) {
  if (cloud.modifiers.empty()) return cloud.modifiers_price == box.modifiers_price;
  const bool with_names = std::ranges::none_of(
      cloud.modifiers, [](const Modifier& modifier) { return modifier.name.empty(); });
  return Sorted(cloud.modifiers, with_names) == Sorted(box.modifiers, with_names);
}

bool Fits(const Combo& cloud, const Combo& box, Fit fit) {
  if (cloud.quantity != box.quantity) return false;
  if (fit == Fit::kAlike)
    return !cloud.product_name.empty() && cloud.product_name == box.product_name;
  if (cloud.variant_price != box.variant_price ||
      cloud.variant_original_price != box.variant_original_price || !ModifiersFit(cloud, box)) {
    return false;
  }
  if (fit == Fit::kSame) {
    const auto content = [](const Combo& combo) {
      return std::tie(combo.product_name, combo.variant_name, combo.comment, combo.product_id,
                      combo.variant_id);
    };
    return content(cloud) == content(box);
  }
  return IsShownSame(cloud.product_name, box.product_name) &&
         IsShownSame(cloud.variant_name, box.variant_name) &&
         IsShownSame(cloud.comment, box.comment);
}

bool Fits(const Payment& cloud, const Payment& box, Fit fit) {
  if (cloud.amount != box.amount || cloud.tip_amount != box.tip_amount) return false;
  switch (fit) {
    case Fit::kSame:
      return cloud.method.id == box.method.id && cloud.received_amount == box.received_amount &&
             cloud.reference == box.reference && cloud.comment == box.comment;
    case Fit::kShown:
      return (cloud.method.id == box.method.id ||
              IsShownSame(cloud.method.code, box.method.code)) &&
             IsShownSame(cloud.reference, box.reference);
    case Fit::kAlike:
      return false;
  }
  return false;
}

bool Fits(const Discount& cloud, const Discount& box, Fit fit) {
  switch (fit) {
    case Fit::kSame:
      return cloud.type == box.type && cloud.value == box.value && cloud.reason == box.reason;
    case Fit::kShown:
      return cloud.type == box.type && cloud.value == box.value;
    case Fit::kAlike:
      return false;
  }
  return false;
}

bool IsCancelled(const auto& row) { return row.canceled_at.has_value(); }
bool IsCancelled(const Discount&) { return false; }

template <typename Kind>
class Adopter {
 public:
  Adopter(Rows& rows, const std::vector<Kind>& box, const std::vector<Kind>& cloud,
          const std::vector<std::string>& cloud_ids)
      : rows_(rows), box_(box), cloud_(cloud), cloud_ids_(cloud_ids) {
    for (const auto& [id, row] : rows_) taken_.insert(row.cloud_id);
    taken_.insert("");  // a row without an id
  }

  // Rows with these ids are left alone.
  size_t Adopt(Fit worst, const RowIds& waiting) {
    size_t adopted = 0;
    for (const Fit fit : kFits) {
      if (fit > worst) break;
      for (const bool in_mirror : {true, false}) {
        for (const bool as_active : {true, false}) {
          adopted += AdoptThose(fit, in_mirror, as_active, waiting);
        }
      }
    }
    return adopted;
  }

  // The rows of an accepted step. Lists keep the order in which their rows were made, so the new
  // rows are the last ones; rows that somebody else made meanwhile may be among them.
  size_t MatchMade(const std::vector<std::string>& ids) {
    size_t adopted = 0;
    for (const Fit fit : kFits) {
      for (size_t i = ids.size(); i-- > 0;) {
        const auto row = std::ranges::find(box_, ids[i], &Kind::id);
        if (row == box_.end() || !IsUnnamed(ids[i])) continue;
        adopted += NameLast(ids[i], [&](size_t at) { return Fits(cloud_[at], *row, fit); });
      }
    }
    // Those that have no content to match by, because they were removed locally meanwhile, and
    // those that the cloud shows with another content.
    for (size_t i = ids.size(); i-- > 0;) {
      if (IsUnnamed(ids[i])) adopted += NameLast(ids[i], [](size_t) { return true; });
    }
    return adopted;
  }

 private:
  // Rows of the box that are in the mirror, or those that are not; active ones with active ones, or
  // any.
  size_t AdoptThose(Fit fit, bool in_mirror, bool as_active, const RowIds& waiting) {
    size_t adopted = 0;
    for (size_t i = 0; i < cloud_.size(); ++i) {
      if (taken_.contains(cloud_ids_[i])) continue;
      const auto found = std::ranges::find_if(box_, [&](const Kind& row) {
        const bool is_free = in_mirror ? IsUnnamed(row.id) : !rows_.contains(row.id);
        return is_free && !waiting.contains(row.id) &&
               (!as_active || IsCancelled(row) == IsCancelled(cloud_[i])) &&
               Fits(cloud_[i], row, fit);
      });
      if (found == box_.end()) continue;
      Name(found->id, i);
      if (!in_mirror) rows_[found->id].is_cancelled = IsCancelled(cloud_[i]);
      ++adopted;
    }
    return adopted;
  }

  bool IsUnnamed(const std::string& id) const {
    const auto row = rows_.find(id);
    return row != rows_.end() && row->second.cloud_id.empty();
  }

  void Name(const std::string& id, size_t cloud_index) {
    rows_[id].cloud_id = cloud_ids_[cloud_index];
    taken_.insert(cloud_ids_[cloud_index]);
  }

  template <typename Predicate>
  size_t NameLast(const std::string& id, const Predicate& fits) {
    for (size_t i = cloud_.size(); i-- > 0;) {
      if (taken_.contains(cloud_ids_[i]) || !fits(i)) continue;
      Name(id, i);
      return 1;
    }
    return 0;
  }

  Rows& rows_;
  const std::vector<Kind>& box_;
  const std::vector<Kind>& cloud_;
  const std::vector<std::string>& cloud_ids_;
  std::set<std::string> taken_;
};

template <typename Kind>
bool HasEach(const std::vector<Kind>& box, const std::vector<Kind>& cloud) {
  Rows rows;
  std::vector<std::string> numbers;
  for (size_t i = 0; i < cloud.size(); ++i) numbers.push_back(std::to_string(i));
  return Adopter(rows, box, cloud, numbers).Adopt(Fit::kShown, {}) == cloud.size();
}

}  // namespace

size_t MatchMade(Mirror& mirror, const orders::Order& box, const CloudRecord& cloud,
                 const Step& step) {
  const orders::Order& there = cloud.order;
  if (step.kind == StepKind::kCombos) {
    return Adopter(mirror.combos, box.combos, there.combos, cloud.combo_ids)
        .MatchMade(step.row_ids);
  }
  if (step.kind == StepKind::kPayment) {
    return Adopter(mirror.payments, box.payments, there.payments, cloud.payment_ids)
        .MatchMade(step.row_ids);
  }
  if (step.kind == StepKind::kDiscount) {
    return Adopter(mirror.discounts, box.discounts, there.discounts, cloud.discount_ids)
        .MatchMade(step.row_ids);
  }
  return 0;
}

size_t MatchRows(Mirror& mirror, const orders::Order& box, const CloudRecord& cloud,
                 const RowIds& waiting) {
  const orders::Order& there = cloud.order;
  return Adopter(mirror.combos, box.combos, there.combos, cloud.combo_ids)
             .Adopt(Fit::kAlike, waiting) +
         Adopter(mirror.payments, box.payments, there.payments, cloud.payment_ids)
             .Adopt(Fit::kAlike, waiting) +
         Adopter(mirror.discounts, box.discounts, there.discounts, cloud.discount_ids)
             .Adopt(Fit::kAlike, waiting);
}

bool HasEachRow(const orders::Order& box, const CloudRecord& cloud) {
  return HasEach(box.combos, cloud.order.combos) && HasEach(box.payments, cloud.order.payments) &&
         HasEach(box.discounts, cloud.order.discounts);
}

}  // namespace comanda::cloud
