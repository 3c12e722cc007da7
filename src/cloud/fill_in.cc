#include "cloud/fill_in.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "menu/menu.h"

namespace comanda::cloud {
namespace {

using orders::DeliveryStatus;
using orders::Order;

class Filler {
 public:
  Filler(db::Session& session, db::CompanyId company, const CloudRecord& record,
         const Order* before, UtcMs now)
      : session_(session), company_(company), record_(record), before_(before), now_(now) {}

  void Fill(Order& draft) {
    if (draft.created_at == 0) draft.created_at = before_ ? before_->created_at : now_;
    if (before_) KeepWhatIsNotShown(draft);
    FillInRows(draft.combos, before_ ? &before_->combos : nullptr, draft.created_at);
    FillInRows(draft.payments, before_ ? &before_->payments : nullptr, draft.created_at);
    for (orders::Discount& row : draft.discounts) {
      if (row.created_at == 0) row.created_at = draft.created_at;
    }
    for (orders::StatusChange& change : draft.status_history) {
      if (change.at == 0) change.at = draft.created_at;
    }
    const auto fill = [&](std::optional<UtcMs>& at, const std::optional<UtcMs>& earlier) {
      if (at == 0) at = earlier.value_or(now_);
    };
    fill(draft.paid_at, before_ ? before_->paid_at : std::nullopt);
    fill(draft.closed_at, before_ ? before_->closed_at : std::nullopt);
    fill(draft.canceled_at, before_ ? before_->canceled_at : std::nullopt);
    if (draft.rider) DateRider(*draft.rider);
    for (orders::Combo& combo : draft.combos) Complete(combo);
    draft.delivery_status_by_rider = draft.delivery_status == DeliveryStatus::kRiderAssigned;
  }

 private:
  // What the cloud does not show of an item is that of the product here. The kitchen that cooks it
  // is one of this box. A row that is here already keeps both, whatever the menu says meanwhile.
  void Complete(orders::Combo& combo) {
    const auto known = before_ ? std::ranges::find(before_->combos, combo.id, &orders::Combo::id)
                               : std::vector<orders::Combo>::const_iterator();
    if (before_ && known != before_->combos.end()) {
      combo.kitchen_id = known->kitchen_id;
      CompleteNames(combo, known->product_name, known->product_category_name, known->variant_name);
      return;
    }
    const std::optional<menu::Item> item = FindItem(combo);
    if (!item) return;
    combo.kitchen_id = item->kitchen_id;
    CompleteNames(combo, item->product_name, item->category_name, item->variant_name);
  }

  std::optional<menu::Item> FindItem(const orders::Combo& combo) {
    std::optional<menu::Item> item;
    if (combo.variant_id) item = menu::FindVariant(session_, company_, *combo.variant_id);
    if (!item && combo.product_id) item = menu::FindProduct(session_, company_, *combo.product_id);
    if (!item && combo.sku) item = menu::FindSku(session_, company_, *combo.sku);
    return item;
  }

  static void CompleteNames(orders::Combo& combo, const std::string& product,
                            const std::optional<std::string>& category,
                            const std::optional<std::string>& variant) {
    if (combo.product_name.empty()) combo.product_name = product;
    if (!combo.product_category_name) combo.product_category_name = category;
    if (!combo.variant_name) combo.variant_name = variant;
  }

  template <typename Rows>
  void FillInRows(Rows& rows, const Rows* earlier, UtcMs created_at) const {
    for (auto& row : rows) {
      if (row.created_at == 0) row.created_at = created_at;
      if (row.canceled_at != 0) continue;
      const auto found = earlier ? std::ranges::find(*earlier, row.id, &Rows::value_type::id)
                                 : typename Rows::const_iterator();
      const bool is_known = earlier && found != earlier->end();
      row.canceled_at = is_known ? found->canceled_at.value_or(now_) : now_;
    }
  }

  void KeepWhatIsNotShown(Order& draft) const {
    if (!record_.has_combos) draft.combos = before_->combos;
    if (!record_.has_payments) draft.payments = before_->payments;
    if (!record_.has_discounts) draft.discounts = before_->discounts;
    if (!record_.has_total) {
      draft.totals.subtotal = before_->totals.subtotal;
      draft.totals.total_discounts = before_->totals.total_discounts;
      draft.totals.total = before_->totals.total;
    }
    if (!record_.has_total_paid) {
      draft.totals.total_paid = before_->totals.total_paid;
      draft.totals.total_tips = before_->totals.total_tips;
      draft.totals.paid = before_->totals.paid;
      draft.paid_at = before_->paid_at;
    }
  }

  void DateRider(orders::Rider& rider) const {
    if (rider.assigned_at != 0) return;
    rider.assigned_at = now_;
    if (!before_ || !before_->rider) return;
    orders::Rider same = *before_->rider;
    same.assigned_at = rider.assigned_at;
    if (same == rider) rider.assigned_at = before_->rider->assigned_at;
  }

  db::Session& session_;
  const db::CompanyId company_;
  const CloudRecord& record_;
  const Order* const before_;
  const UtcMs now_;
};

}  // namespace

void FillIn(db::Session& session, db::CompanyId company, Order& draft, const CloudRecord& record,
            const Order* before, UtcMs now) {
  Filler(session, company, record, before, now).Fill(draft);
}

}  // namespace comanda::cloud
