#include "cloud/adopt.h"

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
  kAlike,  // in what it is and how much
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
      return true;
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
      return cloud.amount == box.amount;
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

  size_t Adopt(Fit worst) && {
    size_t adopted = 0;
    for (const Fit fit : kFits) {
      if (fit > worst) break;
      for (const bool in_image : {true, false}) {
        for (const bool as_active : {true, false}) adopted += AdoptThose(fit, in_image, as_active);
      }
    }
    if (worst == Fit::kAlike) adopted += AdoptRemoved();
    return adopted;
  }

 private:
  // Rows of the box that are in the image, or those that are not; active ones with active ones, or
  // any.
  size_t AdoptThose(Fit fit, bool in_image, bool as_active) {
    size_t adopted = 0;
    for (size_t i = 0; i < cloud_.size(); ++i) {
      if (taken_.contains(cloud_ids_[i])) continue;
      const auto found = std::ranges::find_if(box_, [&](const Kind& row) {
        const auto known = rows_.find(row.id);
        const bool is_free = in_image ? known != rows_.end() && known->second.cloud_id.empty()
                                      : known == rows_.end();
        return is_free && (!as_active || IsCancelled(row) == IsCancelled(cloud_[i])) &&
               Fits(cloud_[i], row, fit);
      });
      if (found == box_.end()) continue;
      Row& row = rows_[found->id];
      row.cloud_id = cloud_ids_[i];
      if (!in_image) row.is_cancelled = IsCancelled(cloud_[i]);
      taken_.insert(cloud_ids_[i]);
      ++adopted;
    }
    return adopted;
  }

  // Rows of the image that are no longer rows of the box.
  size_t AdoptRemoved() {
    size_t adopted = 0;
    for (auto& [id, row] : rows_) {
      if (!row.cloud_id.empty() || std::ranges::find(box_, id, &Kind::id) != box_.end()) continue;
      const auto left = std::ranges::find_if(
          cloud_ids_, [&](const std::string& cloud_id) { return !taken_.contains(cloud_id); });
      if (left == cloud_ids_.end()) break;
      row.cloud_id = *left;
      taken_.insert(*left);
      ++adopted;
    }
    return adopted;
  }

  Rows& rows_;
  const std::vector<Kind>& box_;
  const std::vector<Kind>& cloud_;
  const std::vector<std::string>& cloud_ids_;
  std::set<std::string> taken_;
};

template <typename Kind>
size_t Adopt(Rows& rows, const std::vector<Kind>& box, const std::vector<Kind>& cloud,
             const std::vector<std::string>& cloud_ids) {
  return Adopter(rows, box, cloud, cloud_ids).Adopt(Fit::kAlike);
}

template <typename Kind>
bool HasEach(const std::vector<Kind>& box, const std::vector<Kind>& cloud) {
  Rows rows;
  std::vector<std::string> numbers;
  for (size_t i = 0; i < cloud.size(); ++i) numbers.push_back(std::to_string(i));
  return Adopter(rows, box, cloud, numbers).Adopt(Fit::kShown) == cloud.size();
}

}  // namespace

size_t AdoptRows(Image& image, const orders::Order& box, const CloudRecord& cloud) {
  const orders::Order& there = cloud.order;
  return Adopt(image.combos, box.combos, there.combos, cloud.combo_ids) +
         Adopt(image.payments, box.payments, there.payments, cloud.payment_ids) +
         Adopt(image.discounts, box.discounts, there.discounts, cloud.discount_ids);
}

bool HasEachRow(const orders::Order& box, const CloudRecord& cloud) {
  return HasEach(box.combos, cloud.order.combos) && HasEach(box.payments, cloud.order.payments) &&
         HasEach(box.discounts, cloud.order.discounts);
}

}  // namespace comanda::cloud
