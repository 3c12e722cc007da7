#pragma once

// Reads the record of an order as any server that speaks the specification shows it: the
// specification names only some fields, and the contract's own (section 7, Record) may be missing,
// null or of another kind. Pure.
//
// - What is shown is taken as it is. Totals and derived prices that are not shown are computed from
//   the rows by the rules of orders/pricing.h.
// - Numbers are exact. A record is unreadable if an amount has more decimals than the currency, is
//   negative, or is out of range: nothing is rounded. The same holds for quantities.
// - Statuses and members that this program does not know are kept (orders::Order::unknown_status,
//   unknown_members), as are sources. Numbers among them keep all digits. Unknown members of items,
//   modifiers, payments and discounts are kept under `unknown_row_members`, by the id of the row
//   here; those of the rider there, by the name `rider`.
// - Ids that are no UUID get a UUID derived from them, the same each time.
// - References become ids of this box. An id that is no local record stays if it is a UUID: a row
//   that is read from the cloud later has that local id, too.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "aliases/aliases.h"
#include "company/company.h"
#include "json/reader.h"
#include "orders/external_order.h"
#include "orders/order.h"

namespace comanda::cloud {

struct RecordContext {
  const company::Company& company;
  // The provider whose riders are users of the company, as the cloud calls it and as this box does.
  std::string_view platform_there;
  std::string_view platform_here;
  // The local id of a record of the cloud; nothing where it is not known locally.
  std::function<std::optional<std::string>(aliases::Kind, std::string_view cloud_id)> find_here;
};

struct CloudRecord {
  std::string cloud_id;  // a UUID in lower case, or the text or number that the cloud shows
  std::optional<std::string> cloud_public_id;
  std::string maker;  // as whom it names who made the order; empty: it does not say
  // As orders::ExternalOrder wants it. `id` is the cloud's id or derived from it. `version`,
  // `created_at` and `updated_at` are 0 where the record does not show them, and so is
  // Rider::assigned_at.
  orders::Order order;
  orders::Shown shows;
  std::set<std::string_view>
      fields;  // the names of Fields (cloud/orders/mirror.h) that it shows, null too
  // The cloud's ids of the rows of `order`, in their order; empty where it shows none.
  std::vector<std::string> combo_ids, payment_ids, discount_ids;
};

// Thrown for a record that cannot be read. No std::exception, so that it is handled where it is
// expected, and nowhere else.
struct UnreadableRecord {
  std::string why;  // for the log
};

// Throws UnreadableRecord.
CloudRecord ReadCloudRecord(json::Value record, const RecordContext& context);

// The cloud's id in a record, as CloudRecord::cloud_id; empty where it shows none.
std::string CloudIdOf(json::Value record);

}  // namespace comanda::cloud
