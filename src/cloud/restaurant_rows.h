#pragma once

// Brings records of the cloud into this box (cloud/restaurant.h): gives them their ids here,
// imports them, and writes their aliases, in one transaction a batch. Rows that the import refuses
// are left out and reported; the others go in.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aliases/aliases.h"
#include "cloud/pairing.h"
#include "company/company.h"
#include "db/database.h"
#include "json/reader.h"

namespace comanda::cloud {

// Writes an import document in the caller's transaction (app::ImportIn); throws Refusal with the
// path of every wrong field.
using ImportIn =
    std::function<void(db::Tx& tx, const std::string& document, const db::Stamp& stamp)>;

// Where rows are brought.
struct Importer {
  db::Database& database;
  const ImportIn& import;
  db::CompanyId company;
};

// A record of the cloud.
struct CloudRow {
  std::string cloud_id;  // empty: it has none
  KeyedRow keyed;
  std::string seed = {};  // of the id of a new row, where the cloud gives none
};

// The id here of each row: its alias, else that of the candidate with which it is paired, else a
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

// A batch of rows that are written together.
struct Batch {
  size_t size = 0;
  // Writes those rows, given by their indexes, in a transaction of its own.
  std::function<void(const std::vector<size_t>& rows)> write;
  // The rows to which a field of the document belongs that was written last; none: not known.
  std::function<std::vector<size_t>(std::string_view field)> rows_of;
  // For the report of a refused row: its id in the cloud.
  std::function<std::string(size_t row)> id_of;
  // That of the difference: "menu" or "link".
  std::string_view difference;
};
// Writes the batch without the rows that are refused, each of which becomes a log line and, once,
// a difference.
void WriteBatch(const Importer& importer, const Batch& batch);

// The number in "clients[12].name" behind "clients[".
std::optional<size_t> IndexIn(std::string_view field, std::string_view list);

// The lists. `is_complete`: all of the cloud's rows are in `records`; those it lacks become
// inactive. An empty list of payment methods is taken for a fault of the cloud.
void TakeCompany(const Importer& importer, json::Value record);
void TakePaymentMethods(const Importer& importer, const std::vector<json::Value>& records,
                        bool is_complete);
void TakeTables(const Importer& importer, const std::vector<json::Value>& records,
                bool is_complete);
void TakeUsers(const Importer& importer, const std::vector<json::Value>& records);
void TakeCategories(const Importer& importer, const std::vector<json::Value>& records);
void TakeClients(const Importer& importer, const std::vector<json::Value>& records);

}  // namespace comanda::cloud
