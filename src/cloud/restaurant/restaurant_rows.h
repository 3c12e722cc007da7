#pragma once

// Brings records of the cloud into this box (cloud/restaurant/restaurant.h): gives them their ids
// here, writes what they show of their rows, and their aliases, in one transaction a list. Rows
// that the rooms refuse are left out and reported; the others go in.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aliases/aliases.h"
#include "base/problem.h"
#include "cloud/orders/journal.h"
#include "cloud/orders/pairing.h"
#include "company/company.h"
#include "db/database.h"
#include "json/reader.h"

namespace comanda::cloud {

// The records that a reading has left out.
struct Omitted {
  int64_t count = 0;
  std::string first;  // its id in the cloud, and why
};
// "2 records are left out, the first is 17: price must have at most 2 decimals"; empty: none is.
std::string Describe(const Omitted& omitted);

// Where rows are brought.
struct Importer {
  db::Database& database;
  db::CompanyId company;
  Omitted& omitted;  // Report() adds to it
};

// A record of the cloud.
struct CloudRow {
  std::string cloud_id;  // empty: it has none
  KeyedRow keyed;
  std::string seed = {};  // of the id of a new row, where the cloud gives none
};
// A row with the id that the cloud shows, and its keys.
KeyedRow Keyed(const std::string& cloud_id, std::vector<std::vector<std::string>> keys);

// The local id of each row: its alias, else that of the candidate with which it is paired, else a
// new one: the cloud's where it is a free UUID, or one derived from it.
std::vector<std::string> IdsAmong(db::Session& session, const company::Company& company,
                                  aliases::Kind kind, const std::vector<CloudRow>& rows,
                                  const std::vector<KeyedRow>& candidates);
// Candidates are the rows of this box without an alias.
std::vector<std::string> IdsHere(db::Session& session, const company::Company& company,
                                 aliases::Kind kind, const std::vector<CloudRow>& rows);
// The id of a row that has no counterpart here.
std::string FreshId(db::Session& session, const company::Company& company, aliases::Kind kind,
                    std::string_view cloud_id);
// Writes the alias where it is not there yet.
void PutAlias(db::Tx& tx, db::CompanyId company, aliases::Kind kind, std::string_view cloud_id,
              std::string_view box_id);

// Why records are left out, by their index in a list.
using Refused = std::map<size_t, std::string>;
std::string ReasonOf(const FieldError& error);
// A log line, and once a difference for each; none for none. `kind`: of the differences. Adds to
// Importer::omitted.
void Report(const Importer& importer, DifferenceKind kind, const Refused& refused,
            const std::function<std::string(size_t index)>& cloud_id);

// False where the rooms refuse what the job writes, which is logged: a stored product that is
// refused must not end every reading.
bool WriteUnlessRefused(db::Database& database,
                        const std::function<void(db::Tx& tx, const db::Stamp& stamp)>& job);
// Whether every change of the event log is in the journal.
bool IsAllPlanned(db::Session& session, db::CompanyId company);

// The objects of an array that is a member of the record; nothing where it is none.
std::vector<json::Value> RowsOf(json::Value record, std::string_view list);

// The lists. `is_complete`: all of the cloud's rows are in `records`; those it lacks become
// inactive. An empty list of payment methods is taken for a fault of the cloud.
void TakeCompany(const Importer& importer, json::Value record);
void TakePaymentMethods(const Importer& importer, const std::vector<json::Value>& records,
                        bool is_complete);
void TakeTables(const Importer& importer, const std::vector<json::Value>& records,
                bool is_complete);
void TakeUsers(const Importer& importer, const std::vector<json::Value>& records);
void TakeClients(const Importer& importer, const std::vector<json::Value>& records);

}  // namespace comanda::cloud
