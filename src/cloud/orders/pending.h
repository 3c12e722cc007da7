#pragma once

// What an order still has to send: where it differs from its mirror (cloud/orders/next.h), from the
// database to the journal. An order is compared when it has changed locally, when the cloud has
// answered or shown it, and before it is sent.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/orders/journal_store.h"
#include "cloud/link/link.h"
#include "cloud/orders/next.h"
#include "cloud/readings.h"
#include "db/session.h"

namespace comanda::cloud {

// Which orders are sent, and in which words.
struct SendRules {
  // The name in the cloud of the provider whose riders are users of the company.
  std::string_view rider_provider;
  std::optional<UtcMs> since = {};  // orders created locally before are not sent
  // When the database was restored from a backup, if it was.
  std::optional<UtcMs> restored_at = {};
  const Makers* makers = nullptr;  // Features::makers; null: none is known
  // Whether tables could be paired. The ids of a cloud that does not list its tables may be those
  // of this box: it refuses others, which are then left out.
  bool knows_tables = true;
  // When the cloud was found to have gone back to an earlier time, maybe, and not all orders were
  // compared with it since: one that it has not shown since is read before anything of it is sent
  // (cloud/orders/went_back.h).
  std::optional<UtcMs> went_back_at = {};
};
inline SendRules RulesOf(std::string_view rider_provider, const Link& link) {
  return {.rider_provider = rider_provider,
          .since = link.since,
          .restored_at = link.lost_until,
          .makers = &link.features.makers,
          .knows_tables = link.features.has_tables,
          .went_back_at = GoneBackSince(link)};
}

// Whether the mirror of an order of this box may be older than what the box had sent: it comes from
// a backup, and the cloud has not shown the order since. Nothing is sent of such an order before it
// was read (cloud/orders/restored_merge.h), but its creation, which its key makes harmless.
bool IsBehind(db::Session& session, const orders::Order& order, const Mirror& mirror,
              const SendRules& rules);

// Whether the order is read before anything of it is sent.
bool IsReadFirst(db::Session& session, const orders::Order& order, const Mirror& mirror,
                 const SendRules& rules);

// An order that was compared with its mirror, and is not stored yet.
struct Compared {
  store::OrderRow before, after;  // its row in the journal
  int64_t version = 0;            // of the order
  std::optional<Step> step;       // the request that is to be made next, where it is made now
  std::vector<LeftOut> left_out;
};

// Whether the first request is put into the journal with the comparison, because it is about to be
// sent. Else only the creation of an order is, which no later change makes another. Of a parked
// order none is.
enum class Makes : uint8_t { kCreation, kNext };

// Compares the order as it stands with its mirror. Nothing where this version was compared before,
// there is no such order, another channel or the self-test has made it, or it is too old. On any
// session, where it may take its time.
std::optional<Compared> CompareOrder(db::Session& session, db::CompanyId company,
                                     std::string_view order_id, const SendRules& rules,
                                     Makes makes);
// Stores the comparison, and a difference for each reference that is left out. Where the order or
// its row in the journal has changed since, it is made again.
void StoreCompared(db::Tx& tx, db::CompanyId company, const Compared& compared,
                   const SendRules& rules, Makes makes, const db::Stamp& stamp);

// Compares the order with this row, whatever was compared before, and stores it, in one
// transaction; the row as it is stored. A request that waits for its answer stays as it is.
store::OrderRow CompareAgain(db::Tx& tx, const orders::Order& order, store::OrderRow row,
                             const SendRules& rules, Makes makes, const db::Stamp& stamp);

// The request that waits for its answer; StepKind::kRead where the order is to be read before.
std::optional<Waiting> RequestUnderWay(db::Session& session, db::CompanyId company,
                                       std::string_view order_id, const SendRules& rules);
// The same, or the request that is next, which is in the journal then. Nothing where nothing
// differs.
std::optional<Waiting> NextRequest(db::Tx& tx, db::CompanyId company, std::string_view order_id,
                                   const SendRules& rules, const db::Stamp& stamp);

// All requests that the order still has to make, the one that waits first.
std::vector<Step> RemainingSteps(db::Session& session, const store::OrderRow& row,
                                 const orders::Order& order, const SendRules& rules);

// Nothing that differs now is sent: the mirror becomes as if the cloud had it, and a difference
// says so. False where the order is not parked.
bool Discard(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view reason,
             const SendRules& rules, const db::Stamp& stamp);

// The cloud has cancelled the order, and would refuse what it still had to make: the request that
// waits is dropped, and a difference names what of `remaining` is lost. A comment that comes alone
// is sent all the same.
void DropSteps(db::Tx& tx, db::CompanyId company, const std::string& order_id,
               const std::vector<Step>& remaining, UtcMs now);

// The quantities, in thousandths, that were sold locally and that the cloud has not counted yet,
// less those that it still counts: by the id of the local variant, or by the sku of an item without
// one.
struct Uncounted {
  std::map<std::string, int64_t, std::less<>> by_variant, by_sku;
};
void AddUncounted(Uncounted& uncounted, db::Session& session, db::CompanyId company,
                  std::string_view order_id);

}  // namespace comanda::cloud
