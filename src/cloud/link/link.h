#pragma once

// The link of a company with its counterpart in the cloud (contract section 15), as the database
// keeps it. The key is not part of it: it is in DIR/cloud.key (cloud/link/key_file.h), so that no
// backup contains it.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "db/session.h"

namespace comanda::cloud {

using Makers = std::set<std::string, std::less<>>;

// What the cloud was found to offer beyond the specification, when it was linked and once a day
// (cloud/link/features.h).
struct Features {
  bool has_events = false;         // GET /v1/events: orders are followed by its cursor
  bool takes_status_list = false;  // filter[status]=PENDING,PREPARING
  bool takes_end_date = false;     // filter[end_date]
  bool has_tables = false;         // GET /v1/company/tables
  bool takes_dates = false;        // Comanda-Occurred-At, because the key has orders:sync
  // As whom it names the makers of this link's orders in `status_history`: one for each key that
  // the link has had. Empty: it names none, or none is known.
  Makers makers;
  int64_t per_page = 100;  // the rows of a page that it gives; 0: it takes no per_page
  UtcMs found_at = 0;      // when it was asked; 0: not known

  bool operator==(const Features&) const = default;
};

// The readings of a kind of record.
struct Visit {
  UtcMs at = 0;  // the last one that was whole; 0: none, or it is to be read again
  std::map<std::string, std::string, std::less<>> etags;  // by path, query included
  // Of those that have failed since: why the last one has, when the first and the last one were,
  // and their number.
  std::string trouble = {};
  UtcMs failed_since = 0, failed_at = 0;
  int64_t failures = 0;

  bool operator==(const Visit&) const = default;
};
// By the name of the kind: "menu", "clients", "orders", …
inline constexpr std::string_view kMenuPart = "menu";
inline constexpr std::string_view kOrdersPart = "orders";
// All orders that were sent (cloud/orders/went_back.h).
inline constexpr std::string_view kSentOrdersPart = "sent_orders";
// All products that were pushed (cloud/menu/menu_push.h).
inline constexpr std::string_view kSentMenuPart = "sent_menu";
using Progress = std::map<std::string, Visit, std::less<>>;

struct Link {
  std::string url;      // https://HOST[:PORT][/PREFIX], without /v1; empty: unlinked
  std::string ca_file;  // PEM file with the authorities to trust; empty: the system's
  std::string cloud_company_id;
  UtcMs linked_at = 0;
  std::optional<UtcMs> since;  // orders created before are not sent; nothing: all are
  std::optional<UtcMs> paused_at;
  int64_t planned_seq = 0;  // changes of the event log up to here are in the journal
  // Orders from before the link: those with an id up to this one are in the journal. Nothing: all
  // are.
  std::optional<std::string> scanned_id;
  // Of a restored database: the time from its last change to its restore. What was made locally
  // then is in the cloud alone.
  std::optional<UtcMs> lost_from, lost_until;
  std::optional<std::string> cursor;  // of the cloud's events; nothing: none yet, or it has none
  Features features;
  Progress progress;

  bool operator==(const Link&) const = default;
};

// A company and its link.
struct Linked {
  db::CompanyId company;
  Link link;
};

// The linked company; nothing where none is: a box has one link at most. These functions throw
// Fault on a database error, kDamaged where a row is not what was written.
std::optional<Linked> FindLinked(db::Session& session);
std::optional<Link> FindLink(db::Session& session, db::CompanyId company);
// Inserts the link of the company, or replaces it.
void PutLink(db::Tx& tx, db::CompanyId company, const Link& link);
// Each changes the value that it names, and nothing else.
void PutPlannedSeq(db::Tx& tx, db::CompanyId company, int64_t seq);
void PutScannedId(db::Tx& tx, db::CompanyId company, const std::optional<std::string>& id);
void PutCursor(db::Tx& tx, db::CompanyId company, const std::optional<std::string>& cursor);
void PutFeatures(db::Tx& tx, db::CompanyId company, const Features& features);
void AddMaker(db::Tx& tx, db::CompanyId company, const std::string& maker);
void PutVisit(db::Tx& tx, db::CompanyId company, std::string_view kind, const Visit& visit);
void PutProgress(db::Tx& tx, db::CompanyId company, const Progress& progress);
// The records of every kind are due to be read; their entity tags stay.
void MakeDue(db::Tx& tx, db::CompanyId company);
void PutPaused(db::Tx& tx, db::CompanyId company, std::optional<UtcMs> paused_at);
// For a database that was restored from a backup, before anything else is written.
void NoteRestored(db::Tx& tx, UtcMs last_change, UtcMs now);
// Whether an order of the API that the cloud made at that time was made locally and lost.
bool IsLostTime(db::Session& session, db::CompanyId company, UtcMs created_at);
// Ends the link. Journal, differences and aliases stay for a link with the same company of the
// cloud; FindLinked() no longer finds it.
void Unlink(db::Tx& tx, db::CompanyId company);
// Deletes the link with its journal, differences and aliases: another company of the cloud is
// linked.
void Forget(db::Tx& tx, db::CompanyId company);

}  // namespace comanda::cloud
