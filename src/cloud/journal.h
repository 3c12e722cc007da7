#pragma once

// The journal of the sync (contract section 15.1): of each order its image in the cloud, and the
// steps that the cloud has not accepted yet. Key and body of a step are on disk before it is sent,
// and never change: a step that is repeated after any cut has one effect. A step leaves the journal
// once it is accepted. An order whose step was refused is parked with the reason until a person
// decides; the others go on.
//
// Every function runs in the caller's transaction.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cloud/step.h"
#include "db/session.h"

namespace comanda::cloud {

// Why nothing of an order is sent. The database stores the names.
inline constexpr std::string_view kParkedRefused = "refused";
inline constexpr std::string_view kCancelledButPaid = "cancelled_but_paid";
inline constexpr std::string_view kParkedGone = "gone";
inline constexpr std::string_view kParkedUnanswered = "unanswered";

// An order that is neither finalised nor cancelled, or was changed within this time, goes before
// the backlog.
inline constexpr int64_t kPresentMs = 600'000;

// A step that waits: the first of its order, since the steps of an order are sent one after the
// other.
struct Waiting {
  std::string order_id;
  Step step;
  int64_t attempts = 0;
};

struct Counts {
  int64_t steps_waiting = 0;  // of orders that are not parked
  int64_t orders_parked = 0;
  int64_t differences = 0;
  std::optional<UtcMs> oldest;  // the first change that waits, of orders that are not parked
};

// Which orders may be next.
enum class Among : uint8_t { kPresent, kAll };
using OrderIds = std::set<std::string, std::less<>>;
// The step to be sent next: of the order that was touched first, but for those in `without`.
std::optional<Waiting> NextStep(db::Session& session, db::CompanyId company, Among among, UtcMs now,
                                const OrderIds& without = {});
// Notes that the step is about to be sent.
void NoteAttempt(db::Tx& tx, db::CompanyId company, const Waiting& waiting, UtcMs now);
// Puts another step in the place of one that the cloud has refused, at the same position.
void ReplaceStep(db::Tx& tx, db::CompanyId company, const Waiting& waiting, const Step& step);
// Whether the step is still to be sent: neither dropped nor its order parked.
bool IsWaiting(db::Session& session, db::CompanyId company, const Waiting& waiting);
// Whether anything of the order is still to be sent.
bool HasSteps(db::Session& session, db::CompanyId company, std::string_view order_id);
// The cloud has accepted the step.
void RemoveStep(db::Tx& tx, db::CompanyId company, const Waiting& waiting);
// Nothing of the order is sent from now on. `problem`: the problem document, or empty.
void Park(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view why,
          std::string_view problem);
// Sends it again. False where it is not parked.
bool Unpark(db::Tx& tx, db::CompanyId company, std::string_view order_id);

Counts Count(db::Session& session, db::CompanyId company);

// For people

struct Parked {
  std::string order_id;
  std::string why;      // kParkedRefused, kCancelledButPaid, kParkedGone, kParkedUnanswered
  std::string problem;  // the problem document of the refusal, or empty
};
// In the order of their ids, at most `limit`.
std::vector<Parked> ListParked(db::Session& session, db::CompanyId company, int64_t limit);
// Sends all parked orders again. The number of them.
int64_t UnparkAll(db::Tx& tx, db::CompanyId company);
// Nothing that waits of this order is sent: its steps are dropped, and a difference says so. False
// where it is not parked.
bool Discard(db::Tx& tx, db::CompanyId company, std::string_view order_id, std::string_view reason,
             const db::Stamp& stamp);

// What is not the same on both sides, or was left out.
struct Difference {
  std::string order_id;    // empty: not of an order
  std::string kind;        // totals, date, link, reference, status, menu, discarded
  std::string box, cloud;  // what each side has
  std::string detail;
  UtcMs at = 0;
};
// The newest first, at most `limit`.
std::vector<Difference> ListDifferences(db::Session& session, db::CompanyId company, int64_t limit);

}  // namespace comanda::cloud
