#pragma once

// Brings the restaurant's own records from the cloud: company, payment methods, tables, users and
// clients every hour, the menu every 5 minutes (contract section 15.4, 15.5). The cloud is their
// authority. What its records show is written into the local rows that are their counterparts
// (cloud/restaurant/restaurant_rows.h, cloud/menu/menu_pull.h), by the rules for import files, with
// the events of a change; what they do not show stays. A reading that brings nothing new writes
// nothing.
//
// Rows are paired once (aliases): by id, else by code (payment methods), sku (products, variants),
// e-mail, phone, then name. Rows that only one side has: those of the cloud are added here, under
// the cloud's id where it is a UUID; those of the box stay, and are counted as unpaired.
//
// A product that the cloud's whole menu lacks becomes invisible; a payment method or table that its
// list lacks becomes inactive. The stock of a variant is the cloud's count less what this box has
// sold and the cloud has not acknowledged yet: the quantities of items in steps that wait. A
// product that was changed locally and not pushed yet (cloud/menu/menu_push.h) is not touched.
//
// Lists are bounded: a page that brings no new row, or the 1,000th, ends a list, which then says
// nothing about the rows that it lacks.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/time/clock.h"
#include "cloud/link/line.h"
#include "cloud/link/link.h"
#include "cloud/restaurant/restaurant_rows.h"
#include "db/database.h"

namespace comanda::cloud {

struct RestaurantSettings {
  db::Database& database;
  const Clock& clock;
  // Brings the journal up to date with the event log: called before stock is set.
  std::function<void()> plan = [] {};
};

// Used by the worker's thread alone.
class Restaurant {
 public:
  explicit Restaurant(RestaurantSettings settings);

  // The ms until Read() has something to do; 0: now. By the progress that the link keeps.
  int64_t DueInMs(const Linked& linked) const;
  // Whether every part has been read since the link was made, so that records are paired.
  bool HasReadAll(const Linked& linked) const;
  // Reads what is due, one part after the other; each is stored with its visit. Throws Interrupted
  // (line.h) and what the database throws. Rows that the rooms refuse are left out, logged, and
  // recorded as a difference "menu" or "link".
  void Read(const Linked& linked, Line& line);

 private:
  // A list of people under way: it is read over many calls of Line::Ask(), and goes on after an
  // interruption.
  struct Walk {
    int page = 1;
    std::unordered_set<size_t> seen;  // hashes of the ids
    UtcMs newest = 0;                 // updated_at of the rows, by the cloud's clock
    Omitted omitted;
  };
  enum class People : uint8_t { kUsers, kClients };

  void ReadPart(std::string_view part, const Linked& linked, Line& line, Progress& progress);
  // Why the reading failed; empty: it is whole.
  std::string ReadCompany(const Linked& linked, Line& line, Visit& visit);
  std::string ReadList(std::string_view part, const Linked& linked, Line& line, Visit& visit);
  void ReadMenu(const Linked& linked, Line& line, Progress& progress);
  // One page; the visit is stored after the last one.
  void ReadPeoplePage(People people, const Linked& linked, Line& line, Progress& progress);
  void FinishClients(const Linked& linked, Line& line, Progress& progress, UtcMs newest);
  void Store(const Linked& linked, Progress& progress, std::string_view part, Visit visit);
  // A reading that ends now (NoteReading()).
  void StoreNow(const Linked& linked, Progress& progress, std::string_view part, Visit visit,
                std::string trouble);

  const RestaurantSettings settings_;
  std::map<People, Walk> walks_;
};

// The rows of this box that have no counterpart in the cloud, by kind ("clients": 3): counted from
// the aliases, of kinds that were read. Any thread.
std::map<std::string, int64_t> CountUnpaired(db::Session& session, db::CompanyId company);
// Those rows by kind and name, at most `limit`, for `comanda cloud link`. Any thread.
std::multimap<std::string, std::string> ListUnpaired(db::Session& session, db::CompanyId company,
                                                     int limit);

}  // namespace comanda::cloud
