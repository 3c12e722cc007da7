#pragma once

// A record of the cloud beside what this box has of the order that it shows, and what taking it has
// in common for orders of both sides. Which order here it is (contract section 15.3): the one that
// has the cloud's id as its alias; else the one that has its reference and is none of the cloud's
// yet; else a new one.

#include <optional>
#include <string>
#include <string_view>

#include "cloud/orders/cloud_record.h"
#include "cloud/orders/journal_store.h"
#include "cloud/orders/record_merge.h"
#include "db/session.h"
#include "orders/order.h"

namespace comanda::cloud {

// The actor of what the cloud changes (orders/permission.h).
inline constexpr std::string_view kCloudActor = "cloud";

struct Match {
  db::Tx& tx;
  const MergeSettings& settings;
  const db::Stamp& stamp;
  CloudRecord record;
  std::string order_id = {};  // here; of an unknown order, the one that it gets
  std::optional<orders::Order> before = {};
  std::optional<store::OrderRow> row = {};
  std::optional<Waiting> under_way = {};
  bool is_behind = false;   // IsBehind (cloud/orders/pending.h)
  bool comes_back = false;  // the record tells what was lost
  bool went_back = false;   // the mirror was set back to what the record shows (GoBack)

  db::CompanyId company() const { return settings.company.company_id; }
  const orders::Order& shown() const { return record.order; }
  orders::Order Now() const;
  // Whether the record shows the order as it is now: the answer to a repeated request may be as old
  // as the first.
  bool IsOfNow() const {
    return !settings.answered && (record.shows.combos || settings.looked_for);
  }
  // The mirror has already what the requests that wait will do: the record cannot be compared.
  bool IsPlannedAhead() const { return under_way && under_way->step.is_in_mirror; }
};

Match FindMatch(db::Tx& tx, const MergeSettings& settings, CloudRecord record,
                const db::Stamp& stamp);

// The ids of the cloud lead to the local order.
void PutAlias(const Match& match);

// Places the order as the cloud shows it, or brings the stored one up to date. Nothing, and nothing
// written, where its record is too large.
std::optional<orders::Record> Ingest(const Match& match, orders::Order order,
                                     const orders::Shown& shows);

// The cloud has the order before its creation was answered.
void LearnPlaced(const Match& match, const store::OrderRow& row, Mirror& mirror);

// Stores what was learnt, and compares the order with it, if that is anything.
void StoreLearnt(const Match& match, store::OrderRow row, const orders::Order& after);

}  // namespace comanda::cloud
