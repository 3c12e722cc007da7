#include "orders/store.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "orders/sale.h"

namespace comanda::orders {
namespace {

std::optional<int64_t> Number(std::optional<DeliveryStatus> status) {
  if (!status) return std::nullopt;
  return static_cast<int64_t>(*status);
}

// -- facets and tallies (the heads of buckets.h and of its migration)
// -------------------------------

constexpr int64_t kNoDeliveryStatus = -1;

auto FacetValues(const Order& order) {
  return std::tuple(static_cast<int64_t>(order.status), static_cast<int64_t>(order.service_type),
                    std::string_view(order.source), order.totals.paid,
                    Number(order.delivery_status).value_or(kNoDeliveryStatus));
}

std::optional<int64_t> FindFacet(db::Tx& tx, const Order& order) {
  const auto& [status, service_type, source, paid, delivery_status] = FacetValues(order);
  const auto row = tx.One(
      "SELECT facet FROM order_facet WHERE company_id = $1 AND status = $2 AND service_type = $3"
      " AND source = $4 AND paid = $5 AND delivery_status = $6",
      order.company, status, service_type, source, paid, delivery_status);
  if (!row) return std::nullopt;
  return row->Int(0);
}

int64_t NextFacet(db::Tx& tx, db::CompanyId company) {
  const auto row =
      tx.One("SELECT coalesce(max(facet), 0) + 1 FROM order_facet WHERE company_id = $1", company);
  return row->Int(0);
}

// One order more has the order's values. In two steps: RETURNING would cost more than both.
int64_t JoinFacet(db::Tx& tx, const Order& order) {
  if (const std::optional<int64_t> known = FindFacet(tx, order)) {
    tx.Run("UPDATE order_facet SET orders = orders + 1 WHERE company_id = $1 AND facet = $2",
           order.company, *known);
    return *known;
  }
  const int64_t facet = NextFacet(tx, order.company);
  const auto& [status, service_type, source, paid, delivery_status] = FacetValues(order);
  tx.Run(
      "INSERT INTO order_facet (company_id, facet, status, service_type, source, paid,"
      " delivery_status, orders) VALUES ($1, $2, $3, $4, $5, $6, $7, 1)",
      order.company, facet, status, service_type, source, paid, delivery_status);
  return facet;
}

void LeaveFacet(db::Tx& tx, db::CompanyId company, int64_t facet) {
  tx.Run("UPDATE order_facet SET orders = orders - 1 WHERE company_id = $1 AND facet = $2", company,
         facet);
}

int64_t FacetOf(db::Tx& tx, const Order& order) {
  const auto row =
      tx.One("SELECT facet FROM orders WHERE company_id = $1 AND id = $2", order.company, order.id);
  CHECK(row.has_value(), "an order that changes is stored");
  return row->Int(0);
}

Marks MarksOf(const Order& order) {
  return MarksOf(SortKeys{order.id, order.created_at, order.updated_at,
                          order.scheduled_delivery_date, order.totals.total, order.order_number});
}

constexpr int64_t Number(Tally tally) { return static_cast<int64_t>(tally); }

// One order more has these marks.
void CountIn(db::Tx& tx, db::CompanyId company, const Marks& to, int64_t facet) {
  tx.Run(
      "INSERT INTO order_tally (company_id, tally, bucket, facet, orders) VALUES"
      " ($1, $2, $3, $12, 1), ($1, $4, $5, $12, 1), ($1, $6, $7, $12, 1), ($1, $8, $9, $12, 1),"
      " ($1, $10, $11, $12, 1)"
      " ON CONFLICT (company_id, tally, bucket, facet)"
      " DO UPDATE SET orders = order_tally.orders + 1",
      company, Number(to[0].tally), to[0].bucket, Number(to[1].tally), to[1].bucket,
      Number(to[2].tally), to[2].bucket, Number(to[3].tally), to[3].bucket, Number(to[4].tally),
      to[4].bucket, facet);
}

// One order less has these marks. Stretches that are empty then would slow lists down.
void CountOut(db::Tx& tx, db::CompanyId company, const Marks& from, int64_t facet) {
  tx.Run(
      "INSERT INTO order_tally (company_id, tally, bucket, facet, orders) VALUES"
      " ($1, $2, $3, $12, -1), ($1, $4, $5, $12, -1), ($1, $6, $7, $12, -1),"
      " ($1, $8, $9, $12, -1), ($1, $10, $11, $12, -1)"
      " ON CONFLICT (company_id, tally, bucket, facet)"
      " DO UPDATE SET orders = order_tally.orders - 1",
      company, Number(from[0].tally), from[0].bucket, Number(from[1].tally), from[1].bucket,
      Number(from[2].tally), from[2].bucket, Number(from[3].tally), from[3].bucket,
      Number(from[4].tally), from[4].bucket, facet);
  tx.Run(
      "DELETE FROM order_tally WHERE company_id = $1 AND facet = $12 AND orders = 0"
      " AND (tally, bucket) IN (VALUES ($2, $3), ($4, $5), ($6, $7), ($8, $9), ($10, $11))",
      company, Number(from[0].tally), from[0].bucket, Number(from[1].tally), from[1].bucket,
      Number(from[2].tally), from[2].bucket, Number(from[3].tally), from[3].bucket,
      Number(from[4].tally), from[4].bucket, facet);
}

void CountMoved(db::Tx& tx, db::CompanyId company, const Mark& from, const Mark& to,
                int64_t facet) {
  tx.Run(
      "INSERT INTO order_tally (company_id, tally, bucket, facet, orders)"
      " VALUES ($1, $2, $3, $6, -1), ($1, $4, $5, $6, 1)"
      " ON CONFLICT (company_id, tally, bucket, facet)"
      " DO UPDATE SET orders = order_tally.orders + excluded.orders",
      company, Number(from.tally), from.bucket, Number(to.tally), to.bucket, facet);
  tx.Run(
      "DELETE FROM order_tally"
      " WHERE company_id = $1 AND tally = $2 AND bucket = $3 AND facet = $4 AND orders = 0",
      company, Number(from.tally), from.bucket, facet);
}

// -- the order's row ------------------------------------------------------------------------------

// created_seq is the number that the event of this creation is about to get: lists leave out what
// was made after a snapshot by it (filter[snapshot]).
bool InsertRow(db::Tx& tx, const Order& order, int64_t facet) {
  const int64_t inserted = tx.Run(
      "INSERT INTO orders (company_id, id, public_id, order_number, reference, fingerprint, source,"
      " country_code, timezone, currency, version, status, service_type, scheduled_delivery_date,"
      " client_id, client, table_id, table_snapshot, address_id, address, comment, order_title,"
      " delivery_comment, subtotal, total_discounts, delivery_price, packaging_price,"
      " service_fee_price, total_tips, total, total_paid, paid, paid_at, created_at, updated_at,"
      " created_seq, facet)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, "
      "$19,"
      " $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35,"
      " coalesce((SELECT event_seq FROM company_counter WHERE company_id = $1), 0) + 1, $36)"
      " ON CONFLICT (company_id, public_id) DO NOTHING",
      order.company, order.id, order.public_id, order.order_number, order.reference,
      order.fingerprint, order.source, order.country_code, order.timezone, order.currency,
      order.version, static_cast<int>(order.status), static_cast<int>(order.service_type),
      order.scheduled_delivery_date, order.client_id, order.client, order.table_id, order.table,
      order.address_id, order.address, order.comment, order.order_title, order.delivery_comment,
      order.totals.subtotal, order.totals.total_discounts, order.delivery_price,
      order.packaging_price, order.service_fee_price, order.totals.total_tips, order.totals.total,
      order.totals.total_paid, order.totals.paid, order.paid_at, order.created_at, order.updated_at,
      facet);
  return inserted == 1;
}

std::optional<Rider> ReadRider(const db::Rows& row, int first_column) {
  int n = first_column;
  if (row.IsNull(n)) return std::nullopt;
  Rider rider;
  rider.provider = row.Text(n++);
  rider.user_id = row.OptionalText(n++);
  rider.name = row.OptionalText(n++);
  rider.phone_number = row.OptionalText(n++);
  rider.country_calling_code = row.OptionalText(n++);
  rider.assigned_at = row.Int(n++);
  return rider;
}

constexpr int kRiderColumns = 6;

Order ReadRow(const db::Rows& row) {
  Order order;
  int n = 0;
  order.company = row.Int(n++);
  order.company_id = row.Text(n++);
  order.id = row.Text(n++);
  order.public_id = row.Text(n++);
  order.order_number = row.Int(n++);
  order.reference = row.OptionalText(n++);
  order.fingerprint = row.OptionalText(n++);
  order.source = row.Text(n++);
  order.country_code = row.Text(n++);
  order.timezone = row.Text(n++);
  order.currency = row.Text(n++);
  order.version = row.Int(n++);
  order.status = static_cast<Status>(row.Int(n++));
  order.service_type = static_cast<ServiceType>(row.Int(n++));
  if (!row.IsNull(n)) order.delivery_status = static_cast<DeliveryStatus>(row.Int(n));
  ++n;
  order.delivery_status_reason = row.OptionalText(n++);
  order.delivery_status_by_rider = row.Bool(n++);
  order.delivered_by = row.OptionalText(n++);
  order.rider = ReadRider(row, n);
  n += kRiderColumns;
  order.cancel_reason = row.OptionalText(n++);
  order.scheduled_delivery_date = row.OptionalInt(n++);
  order.client_id = row.OptionalText(n++);
  order.client = row.OptionalText(n++);
  order.table_id = row.OptionalText(n++);
  order.table = row.OptionalText(n++);
  order.address_id = row.OptionalText(n++);
  order.address = row.OptionalText(n++);
  order.comment = row.OptionalText(n++);
  order.order_title = row.OptionalText(n++);
  order.delivery_comment = row.OptionalText(n++);
  order.totals.subtotal = row.Int(n++);
  order.totals.total_discounts = row.Int(n++);
  order.delivery_price = row.Int(n++);
  order.packaging_price = row.Int(n++);
  order.service_fee_price = row.Int(n++);
  order.totals.total_tips = row.Int(n++);
  order.totals.total = row.Int(n++);
  order.totals.total_paid = row.Int(n++);
  order.totals.paid = row.Bool(n++);
  order.paid_at = row.OptionalInt(n++);
  order.created_at = row.Int(n++);
  order.updated_at = row.Int(n++);
  order.closed_at = row.OptionalInt(n++);
  order.canceled_at = row.OptionalInt(n++);
  const std::optional<int> decimals = CurrencyDecimals(order.currency);
  CHECK(decimals.has_value(), "an order is only stored with a known currency");
  order.currency_decimals = *decimals;
  return order;
}

std::optional<Order> SelectRow(db::Session& session, db::CompanyId company, std::string_view id) {
  const auto row = session.One(
      "SELECT o.company_id, c.id, o.id, o.public_id, o.order_number, o.reference, o.fingerprint,"
      " o.source, o.country_code, o.timezone, o.currency, o.version, o.status, o.service_type,"
      " o.delivery_status, o.delivery_status_reason, o.delivery_status_by_rider, o.delivered_by,"
      " o.rider_provider, o.rider_user_id, o.rider_name, o.rider_phone_number,"
      " o.rider_country_calling_code, o.rider_assigned_at, o.cancel_reason,"
      " o.scheduled_delivery_date, o.client_id, o.client, o.table_id, o.table_snapshot,"
      " o.address_id, o.address, o.comment, o.order_title, o.delivery_comment, o.subtotal,"
      " o.total_discounts, o.delivery_price, o.packaging_price, o.service_fee_price, o.total_tips,"
      " o.total, o.total_paid, o.paid, o.paid_at, o.created_at, o.updated_at, o.closed_at,"
      " o.canceled_at"
      " FROM orders o JOIN company c ON c.company_id = o.company_id"
      " WHERE o.company_id = $1 AND o.id = $2",
      company, id);
  if (!row) return std::nullopt;
  return ReadRow(*row);
}

// Everything that may change and stands in no index but that of updated_at.
void UpdateRow(db::Tx& tx, const Order& order) {
  const Rider* rider = order.rider ? &*order.rider : nullptr;
  tx.Run(
      "UPDATE orders SET version = $3, delivery_status = $4, delivery_status_reason = $5,"
      " delivery_status_by_rider = $6, delivered_by = $7, cancel_reason = $8, comment = $9,"
      " order_title = $10, delivery_comment = $11, subtotal = $12, total_discounts = $13,"
      " delivery_price = $14, packaging_price = $15, total_tips = $16, total_paid = $17, paid = "
      "$18,"
      " paid_at = $19, updated_at = $20, closed_at = $21, canceled_at = $22, rider_provider = $23,"
      " rider_user_id = $24, rider_name = $25, rider_phone_number = $26,"
      " rider_country_calling_code = $27, rider_assigned_at = $28, status = $29"
      " WHERE company_id = $1 AND id = $2",
      order.company, order.id, order.version, Number(order.delivery_status),
      order.delivery_status_reason, order.delivery_status_by_rider, order.delivered_by,
      order.cancel_reason, order.comment, order.order_title, order.delivery_comment,
      order.totals.subtotal, order.totals.total_discounts, order.delivery_price,
      order.packaging_price, order.totals.total_tips, order.totals.total_paid, order.totals.paid,
      order.paid_at, order.updated_at, order.closed_at, order.canceled_at,
      rider ? db::Bound(rider->provider) : db::Bound(nullptr),
      rider ? db::Bound(rider->user_id) : db::Bound(nullptr),
      rider ? db::Bound(rider->name) : db::Bound(nullptr),
      rider ? db::Bound(rider->phone_number) : db::Bound(nullptr),
      rider ? db::Bound(rider->country_calling_code) : db::Bound(nullptr),
      rider ? db::Bound(rider->assigned_at) : db::Bound(nullptr),
      static_cast<int64_t>(order.status));
}

// Apart, because naming a column in SET rewrites its indexes, changed or not.
void UpdateIndexed(db::Tx& tx, const Order& before, const Order& after) {
  const auto indexed = [](const Order& order) {
    return std::tuple(order.scheduled_delivery_date, order.totals.total);
  };
  if (indexed(before) == indexed(after)) return;
  tx.Run(
      "UPDATE orders SET scheduled_delivery_date = $3, total = $4"
      " WHERE company_id = $1 AND id = $2",
      after.company, after.id, after.scheduled_delivery_date, after.totals.total);
}

// The facet, and where the order is counted.
void UpdateFacet(db::Tx& tx, const Order& before, const Order& after) {
  const db::CompanyId company = after.company;
  const Marks from = MarksOf(before), to = MarksOf(after);
  const bool same_facet = FacetValues(before) == FacetValues(after);
  if (same_facet && from == to) return;
  const int64_t left = FacetOf(tx, before);
  if (same_facet) {
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i] != to[i]) CountMoved(tx, company, from[i], to[i], left);
    }
    return;
  }
  LeaveFacet(tx, company, left);
  const int64_t facet = JoinFacet(tx, after);
  CountOut(tx, company, from, left);
  CountIn(tx, company, to, facet);
  tx.Run("UPDATE orders SET facet = $3 WHERE company_id = $1 AND id = $2", company, after.id,
         facet);
  tx.Run("UPDATE sale SET facet = $4 WHERE company_id = $1 AND created_at = $2 AND order_id = $3",
         company, after.created_at, after.id, facet);
}

// -- what reports add up --------------------------------------------------------------------------

// After the facet.
void UpdateSale(db::Tx& tx, const Order& before, const Order& after) {
  if (before.combos == after.combos && before.payments == after.payments) return;
  tx.Run(
      "INSERT INTO sale (company_id, created_at, order_id, facet, payments, lines)"
      " VALUES ($1, $2, $3, (SELECT facet FROM orders WHERE company_id = $1 AND id = $3), $4, $5)"
      " ON CONFLICT (company_id, created_at, order_id)"
      " DO UPDATE SET payments = excluded.payments, lines = excluded.lines",
      after.company, after.created_at, after.id, PackPayments(after.payments),
      PackLines(after.combos));
}

// -- history --------------------------------------------------------------------------------------

void InsertStatus(db::Tx& tx, const Order& order, size_t position) {
  const StatusChange& change = order.status_history[position];
  tx.Run(
      "INSERT INTO order_status (company_id, order_id, position, status, at, by, implied)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7)",
      order.company, order.id, static_cast<int64_t>(position), static_cast<int>(change.status),
      change.at, change.by, change.implied);
}

void SelectHistory(db::Session& session, Order& order) {
  db::Rows rows = session.Query(
      "SELECT status, at, by, implied FROM order_status"
      " WHERE company_id = $1 AND order_id = $2 ORDER BY position",
      order.company, order.id);
  while (rows.Next()) {
    order.status_history.push_back(
        {static_cast<Status>(rows.Int(0)), rows.Int(1), rows.Text(2), rows.Bool(3)});
  }
}

// -- combos ---------------------------------------------------------------------------------------

void InsertModifiers(db::Tx& tx, const Order& order, size_t combo_position) {
  int64_t position = 0;
  for (const Modifier& modifier : order.combos[combo_position].modifiers) {
    tx.Run(
        "INSERT INTO combo_modifier (company_id, order_id, combo_position, position, id, "
        "modifier_id,"
        " name, quantity, price, original_price) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        order.company, order.id, static_cast<int64_t>(combo_position), position++, modifier.id,
        modifier.modifier_id, modifier.name, modifier.quantity, modifier.price,
        modifier.original_price);
  }
}

void InsertCombo(db::Tx& tx, const Order& order, size_t position) {
  const Combo& combo = order.combos[position];
  tx.Run(
      "INSERT INTO combo (company_id, order_id, position, id, product_id, product_name,"
      " product_category_name, variant_id, variant_name, sku, quantity, comment, variant_price,"
      " variant_original_price, modifiers_price, combo_price, combo_original_price, kitchen_id,"
      " stock_taken, created_at, canceled_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11,"
      " $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)",
      order.company, order.id, static_cast<int64_t>(position), combo.id, combo.product_id,
      combo.product_name, combo.product_category_name, combo.variant_id, combo.variant_name,
      combo.sku, combo.quantity, combo.comment, combo.variant_price, combo.variant_original_price,
      combo.modifiers_price, combo.combo_price, combo.combo_original_price, combo.kitchen_id,
      combo.stock_taken, combo.created_at, combo.canceled_at);
  InsertModifiers(tx, order, position);
}

Combo ReadCombo(const db::Rows& row) {
  Combo combo;
  int n = 0;
  combo.id = row.Text(n++);
  combo.product_id = row.OptionalText(n++);
  combo.product_name = row.Text(n++);
  combo.product_category_name = row.OptionalText(n++);
  combo.variant_id = row.OptionalText(n++);
  combo.variant_name = row.OptionalText(n++);
  combo.sku = row.OptionalText(n++);
  combo.quantity = row.Int(n++);
  combo.comment = row.OptionalText(n++);
  combo.variant_price = row.Int(n++);
  combo.variant_original_price = row.Int(n++);
  combo.modifiers_price = row.Int(n++);
  combo.combo_price = row.Int(n++);
  combo.combo_original_price = row.Int(n++);
  combo.kitchen_id = row.OptionalText(n++);
  combo.stock_taken = row.Int(n++);
  combo.created_at = row.Int(n++);
  combo.canceled_at = row.OptionalInt(n++);
  return combo;
}

void SelectModifiers(db::Session& session, Order& order) {
  db::Rows rows = session.Query(
      "SELECT combo_position, id, modifier_id, name, quantity, price, original_price"
      " FROM combo_modifier WHERE company_id = $1 AND order_id = $2"
      " ORDER BY combo_position, position",
      order.company, order.id);
  while (rows.Next()) {
    const auto combo_position = static_cast<size_t>(rows.Int(0));
    CHECK(combo_position < order.combos.size(), "a modifier belongs to a combo of its order");
    order.combos[combo_position].modifiers.push_back(
        {rows.Text(1), rows.OptionalText(2), rows.Text(3), rows.Int(4), rows.Int(5), rows.Int(6)});
  }
}

void SelectCombos(db::Session& session, Order& order) {
  db::Rows rows = session.Query(
      "SELECT id, product_id, product_name, product_category_name, variant_id, variant_name, sku,"
      " quantity, comment, variant_price, variant_original_price, modifiers_price, combo_price,"
      " combo_original_price, kitchen_id, stock_taken, created_at, canceled_at"
      " FROM combo WHERE company_id = $1 AND order_id = $2 ORDER BY position",
      order.company, order.id);
  while (rows.Next()) order.combos.push_back(ReadCombo(rows));
  if (!order.combos.empty()) SelectModifiers(session, order);
}

void UpdateCombos(db::Tx& tx, const Order& before, const Order& after) {
  for (size_t position = 0; position < after.combos.size(); ++position) {
    const Combo& combo = after.combos[position];
    if (position >= before.combos.size()) {
      InsertCombo(tx, after, position);
    } else if (combo.canceled_at != before.combos[position].canceled_at ||
               combo.stock_taken != before.combos[position].stock_taken) {
      tx.Run(
          "UPDATE combo SET canceled_at = $4, stock_taken = $5"
          " WHERE company_id = $1 AND order_id = $2 AND position = $3",
          after.company, after.id, static_cast<int64_t>(position), combo.canceled_at,
          combo.stock_taken);
    }
  }
}

// -- payments -------------------------------------------------------------------------------------

void InsertPayment(db::Tx& tx, const Order& order, size_t position) {
  const Payment& payment = order.payments[position];
  tx.Run(
      "INSERT INTO payment (company_id, order_id, position, id, payment_method_id,"
      " payment_method_code, payment_method_description, amount, tip_amount, received_amount,"
      " reference, comment, created_at, canceled_at)"
      " VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)",
      order.company, order.id, static_cast<int64_t>(position), payment.id, payment.method.id,
      payment.method.code, payment.method.description, payment.amount, payment.tip_amount,
      payment.received_amount, payment.reference, payment.comment, payment.created_at,
      payment.canceled_at);
}

void SelectPayments(db::Session& session, Order& order) {
  db::Rows rows = session.Query(
      "SELECT id, payment_method_id, payment_method_code, payment_method_description, amount,"
      " tip_amount, received_amount, reference, comment, created_at, canceled_at"
      " FROM payment WHERE company_id = $1 AND order_id = $2 ORDER BY position",
      order.company, order.id);
  while (rows.Next()) {
    order.payments.push_back({rows.Text(0),
                              {rows.Text(1), rows.Text(2), rows.Text(3)},
                              rows.Int(4),
                              rows.Int(5),
                              rows.OptionalInt(6),
                              rows.OptionalText(7),
                              rows.OptionalText(8),
                              rows.Int(9),
                              rows.OptionalInt(10)});
  }
}

void UpdatePayments(db::Tx& tx, const Order& before, const Order& after) {
  for (size_t position = 0; position < after.payments.size(); ++position) {
    const Payment& payment = after.payments[position];
    if (position >= before.payments.size()) {
      InsertPayment(tx, after, position);
    } else if (payment.canceled_at != before.payments[position].canceled_at) {
      tx.Run(
          "UPDATE payment SET canceled_at = $4"
          " WHERE company_id = $1 AND order_id = $2 AND position = $3",
          after.company, after.id, static_cast<int64_t>(position), payment.canceled_at);
    }
  }
}

// -- discounts ------------------------------------------------------------------------------------

void InsertDiscount(db::Tx& tx, const Order& order, const Discount& discount) {
  tx.Run(
      "INSERT INTO discount (company_id, order_id, position, id, type, value, amount, reason,"
      " created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
      order.company, order.id, discount.position, discount.id, Name(discount.type), discount.value,
      discount.amount, discount.reason, discount.created_at);
}

void SelectDiscounts(db::Session& session, Order& order) {
  db::Rows rows = session.Query(
      "SELECT id, position, type, value, amount, reason, created_at"
      " FROM discount WHERE company_id = $1 AND order_id = $2 ORDER BY position",
      order.company, order.id);
  while (rows.Next()) {
    const bool percentage = rows.View(2) == Name(DiscountType::kPercentage);
    order.discounts.push_back({rows.Text(0), rows.Int(1),
                               percentage ? DiscountType::kPercentage : DiscountType::kAmount,
                               rows.Int(3), rows.Int(4), rows.OptionalText(5), rows.Int(6)});
  }
}

const Discount* FindDiscount(const Order& order, std::string_view id) {
  const auto found = std::ranges::find(order.discounts, id, &Discount::id);
  return found == order.discounts.end() ? nullptr : &*found;
}

void UpdateDiscounts(db::Tx& tx, const Order& before, const Order& after) {
  for (const Discount& discount : before.discounts) {
    if (FindDiscount(after, discount.id)) continue;
    tx.Run("DELETE FROM discount WHERE company_id = $1 AND order_id = $2 AND position = $3",
           before.company, before.id, discount.position);
  }
  for (const Discount& discount : after.discounts) {
    const Discount* stored = FindDiscount(before, discount.id);
    if (!stored) {
      InsertDiscount(tx, after, discount);
    } else if (stored->amount != discount.amount) {
      tx.Run(
          "UPDATE discount SET amount = $4 WHERE company_id = $1 AND order_id = $2 AND position = "
          "$3",
          after.company, after.id, discount.position, discount.amount);
    }
  }
}

}  // namespace

// -- the aggregate --------------------------------------------------------------------------------

bool Insert(db::Tx& tx, const Order& order) {
  CHECK(order.status_history.size() == 1 && order.combos.empty() && order.payments.empty() &&
            order.discounts.empty() && !order.rider,
        "an order is stored when it is placed, before anything else happens to it");
  const int64_t facet = JoinFacet(tx, order);
  if (!InsertRow(tx, order, facet)) {
    LeaveFacet(tx, order.company, facet);
    return false;
  }
  InsertStatus(tx, order, 0);
  CountIn(tx, order.company, MarksOf(order), facet);
  return true;
}

void Update(db::Tx& tx, const Order& before, const Order& after) {
  UpdateRow(tx, after);
  UpdateIndexed(tx, before, after);
  UpdateFacet(tx, before, after);
  for (size_t position = before.status_history.size(); position < after.status_history.size();
       ++position) {
    InsertStatus(tx, after, position);
  }
  UpdateCombos(tx, before, after);
  UpdatePayments(tx, before, after);
  UpdateDiscounts(tx, before, after);
  UpdateSale(tx, before, after);
}

std::optional<Order> Select(db::Session& session, db::CompanyId company, std::string_view id) {
  std::optional<Order> order = SelectRow(session, company, id);
  if (!order) return std::nullopt;
  SelectHistory(session, *order);
  SelectCombos(session, *order);
  SelectPayments(session, *order);
  SelectDiscounts(session, *order);
  return order;
}

std::optional<std::string> SelectIdByPublicId(db::Session& session, db::CompanyId company,
                                              std::string_view public_id) {
  const auto row = session.One("SELECT id FROM orders WHERE company_id = $1 AND public_id = $2",
                               company, public_id);
  if (!row) return std::nullopt;
  return row->Text(0);
}

std::optional<Made> SelectByReference(db::Session& session, db::CompanyId company,
                                      std::string_view reference) {
  const auto row = session.One(
      "SELECT id, public_id, coalesce(fingerprint, '') FROM orders"
      " WHERE company_id = $1 AND reference = $2",
      company, reference);
  if (!row) return std::nullopt;
  return Made{row->Text(0), row->Text(1), row->Text(2)};
}

// -- the rendered record --------------------------------------------------------------------------

void PutRecord(db::Tx& tx, const Order& order, const Rendering& rendering) {
  tx.Run(
      "INSERT INTO order_record (company_id, order_id, version, render_version, head, combos,"
      " payments, discounts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
      " ON CONFLICT (company_id, order_id) DO UPDATE SET version = excluded.version,"
      " render_version = excluded.render_version, head = excluded.head, combos = excluded.combos,"
      " payments = excluded.payments, discounts = excluded.discounts",
      order.company, order.id, order.version, kRenderVersion, rendering.head, rendering.combos,
      rendering.payments, rendering.discounts);
}

std::optional<int64_t> SelectVersion(db::Session& session, db::CompanyId company,
                                     std::string_view id) {
  const std::optional<db::Rows> row = session.One(
      "SELECT version FROM order_record WHERE company_id = $1 AND order_id = $2", company, id);
  return row ? std::optional(row->Int(0)) : std::nullopt;
}

std::optional<RecordRow> SelectRecord(db::Session& session, db::CompanyId company,
                                      std::string_view id) {
  std::optional<db::Rows> row = session.One(
      "SELECT version, render_version, head, combos, payments, discounts FROM order_record"
      " WHERE company_id = $1 AND order_id = $2",
      company, id);
  if (!row) return std::nullopt;
  return RecordRow(*std::move(row));
}

std::optional<RecordRow> SelectHead(db::Session& session, db::CompanyId company,
                                    std::string_view id) {
  std::optional<db::Rows> row = session.One(
      "SELECT version, render_version, head, '' AS combos, '' AS payments, '' AS discounts"
      " FROM order_record WHERE company_id = $1 AND order_id = $2",
      company, id);
  if (!row) return std::nullopt;
  return RecordRow(*std::move(row));
}

// -- numbers for lists ----------------------------------------------------------------------------

std::vector<Facet> SelectFacets(db::Session& session, db::CompanyId company) {
  db::Rows rows = session.Query(
      "SELECT facet, status, service_type, source, paid, delivery_status, orders FROM order_facet"
      " WHERE company_id = $1 AND orders > 0 ORDER BY facet",
      company);
  std::vector<Facet> facets;
  while (rows.Next()) {
    Facet& facet = facets.emplace_back();
    facet.facet = rows.Int(0);
    facet.status = static_cast<Status>(rows.Int(1));
    facet.service_type = static_cast<ServiceType>(rows.Int(2));
    facet.source = rows.Text(3);
    facet.paid = rows.Bool(4);
    if (const int64_t status = rows.Int(5); status != kNoDeliveryStatus) {
      facet.delivery_status = static_cast<DeliveryStatus>(status);
    }
    facet.orders = rows.Int(6);
  }
  return facets;
}

int64_t SelectLastNumber(db::Session& session, db::CompanyId company, UtcMs begin, UtcMs end) {
  // The sum keeps the engine from looking for it along the index of all numbers.
  return session
      .One(
          "SELECT coalesce(max(order_number + 0), 0) FROM orders"
          " WHERE company_id = $1 AND created_at >= $2 AND created_at < $3",
          company, begin, end)
      ->Int(0);
}

int64_t CountOrders(db::Session& session, db::CompanyId company) {
  const auto row = session.One(
      "SELECT coalesce(sum(orders), 0) FROM order_facet WHERE company_id = $1", company);
  return row->Int(0);
}

void EachBucket(db::Session& session, db::CompanyId company, Tally tally, Buckets buckets,
                Direction direction,
                const std::function<bool(int64_t bucket, int64_t facet, int64_t orders)>& pass) {
  const std::string_view sql =
      direction == Direction::kAscending
          ? "SELECT bucket, facet, orders FROM order_tally WHERE company_id = $1 AND tally = $2"
            " AND bucket BETWEEN $3 AND $4 ORDER BY bucket, facet"
          : "SELECT bucket, facet, orders FROM order_tally WHERE company_id = $1 AND tally = $2"
            " AND bucket BETWEEN $3 AND $4 ORDER BY bucket DESC, facet DESC";
  db::Rows rows = session.Query(sql, company, Number(tally), buckets.low, buckets.high);
  while (rows.Next() && pass(rows.Int(0), rows.Int(1), rows.Int(2))) continue;
}

std::vector<NewerOrder> SelectNewer(db::Session& session, db::CompanyId company, int64_t snapshot,
                                    int64_t most) {
  db::Rows rows = session.Query(
      "SELECT id, created_at, updated_at, scheduled_delivery_date, total, order_number, facet"
      " FROM orders WHERE company_id = $1 AND created_seq > $2 ORDER BY created_seq LIMIT $3",
      company, snapshot, most);
  std::vector<NewerOrder> newer;
  while (rows.Next()) {
    newer.push_back(
        {{rows.Text(0), rows.Int(1), rows.Int(2), rows.OptionalInt(3), rows.Int(4), rows.Int(5)},
         rows.Int(6)});
  }
  return newer;
}

int64_t CurrentSeq(db::Session& session, db::CompanyId company) {
  const auto row =
      session.One("SELECT event_seq FROM company_counter WHERE company_id = $1", company);
  return row ? row->Int(0) : 0;
}

void DeleteAll(db::Tx& tx, db::CompanyId company) {
  tx.Run("DELETE FROM order_record WHERE company_id = $1", company);
  tx.Run("DELETE FROM sale WHERE company_id = $1", company);
  tx.Run("DELETE FROM discount WHERE company_id = $1", company);
  tx.Run("DELETE FROM payment WHERE company_id = $1", company);
  tx.Run("DELETE FROM combo_modifier WHERE company_id = $1", company);
  tx.Run("DELETE FROM combo WHERE company_id = $1", company);
  tx.Run("DELETE FROM order_status WHERE company_id = $1", company);
  tx.Run("DELETE FROM order_tally WHERE company_id = $1", company);
  tx.Run("DELETE FROM orders WHERE company_id = $1", company);
  tx.Run("DELETE FROM order_facet WHERE company_id = $1", company);
}

}  // namespace comanda::orders
