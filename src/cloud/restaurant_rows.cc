#include "cloud/restaurant_rows.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "base/concat.h"
#include "base/id.h"
#include "base/log.h"
#include "base/problem.h"
#include "clients/clients.h"
#include "cloud/journal_store.h"
#include "cloud/restaurant_document.h"
#include "cloud/restaurant_store.h"
#include "company/companies.h"
#include "crypto/derived_id.h"
#include "menu/catalogue.h"
#include "users/users.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using json::Value;

// Of one batch; the log has the number of the others.
constexpr size_t kReportedMax = 20;

// The natural keys of a record.
using KeysOf = KeyedRow (*)(Value record);
// Writes the row of a record under its id here.
using WriteRow =
    std::function<void(json::Writer& out, db::Tx& tx, Value record, const std::string& id)>;

// A list of the document.
struct List {
  Kind kind;
  std::string_view name;
  KeysOf keys;
  WriteRow write;
  std::string_view difference = "link";
};

std::string PathOf(std::string_view list) { return Concat({"companies[0].", list}); }

void WriteDifference(db::Tx& tx, db::CompanyId company, std::string_view kind,
                     const std::string& cloud, const std::string& detail, UtcMs at) {
  if (store::HasDifference(tx, company, kind, cloud, detail)) return;
  store::InsertDifference(
      tx, company,
      {.order_id = "", .kind = std::string(kind), .box = "", .cloud = cloud, .detail = detail}, at);
}

// Refused rows with the reason of each.
using Refused = std::map<size_t, std::string>;

void Report(const Importer& importer, const Batch& batch, const Refused& refused) {
  log::Warning("records of the cloud are not accepted here and left out",
               {{"kind", batch.difference},
                {"count", refused.size()},
                {"cloud_id", batch.id_of(refused.begin()->first)},
                {"reason", refused.begin()->second}});
  importer.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    size_t reported = 0;
    for (const auto& [row, reason] : refused) {
      if (reported++ == kReportedMax) return;
      WriteDifference(tx, importer.company, batch.difference, batch.id_of(row), reason, stamp.now);
    }
  });
}

// Why each row was refused; all of them, where the refusal does not say which.
Refused RefusedBy(const Refusal& refusal, const Batch& batch, const std::vector<size_t>& rows) {
  Refused refused;
  for (const FieldError& error : refusal.errors) {
    for (const size_t row : batch.rows_of(error.field)) {
      const std::string_view field = std::string_view(error.field);
      refused.emplace(row, Concat({field.substr(field.rfind('.') + 1), " ", error.message}));
    }
  }
  if (!refused.empty()) return refused;
  for (const size_t row : rows) refused.emplace(row, refusal.detail);
  return refused;
}

std::vector<std::string> IdsOf(const std::vector<Value>& records) {
  std::vector<std::string> ids;
  for (const Value record : records) ids.push_back(IdOf(record));
  return ids;
}

std::vector<CloudRow> CloudRows(const std::vector<Value>& records, const std::vector<size_t>& rows,
                                KeysOf keys) {
  std::vector<CloudRow> named;
  for (const size_t row : rows) {
    named.push_back({.cloud_id = IdOf(records[row]), .keyed = keys(records[row])});
  }
  return named;
}

// What else a transaction does: before the ids are given, in the list of the document, and once it
// is imported.
struct Around {
  std::function<void(db::Tx&)> before = [](db::Tx&) {};
  std::function<void(db::Tx&)> after = [](db::Tx&) {};
  std::function<void(db::Tx&, json::Writer&, const std::set<std::string>& ids)> append =
      [](db::Tx&, json::Writer&, const std::set<std::string>&) {};
};

void TakeList(const Importer& importer, const std::vector<Value>& records, const List& list,
              const Around& around = {}) {
  std::vector<size_t> written;
  const auto write = [&](const std::vector<size_t>& rows) {
    written = rows;
    importer.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
      const company::Company company = company::Get(tx, importer.company);
      around.before(tx);
      const std::vector<CloudRow> named = CloudRows(records, rows, list.keys);
      const std::vector<std::string> ids = IdsHere(tx, company, list.kind, named);
      const std::string document = Document(company, nullptr, {}, [&](json::Writer& out) {
        out.KeyOf(list.name).BeginArray();
        for (size_t i = 0; i < rows.size(); ++i) list.write(out, tx, records[rows[i]], ids[i]);
        around.append(tx, out, {ids.begin(), ids.end()});
        out.EndArray();
      });
      importer.import(tx, document, stamp);
      for (size_t i = 0; i < rows.size(); ++i) {
        PutAlias(tx, importer.company, list.kind, named[i].cloud_id, ids[i]);
      }
      around.after(tx);
    });
  };
  const auto rows_of = [&](std::string_view field) -> std::vector<size_t> {
    const auto index = IndexIn(field, PathOf(list.name));
    if (!index || *index >= written.size()) return {};
    return {written[*index]};
  };
  WriteBatch(importer, {.size = records.size(),
                        .write = write,
                        .rows_of = rows_of,
                        .id_of = [&](size_t row) { return IdOf(records[row]); },
                        .difference = list.difference});
}

// A list that says what it lacks. `find` gives a row of this box, nothing for one that is inactive.
template <typename Find>
void TakeCompleteList(const Importer& importer, const std::vector<Value>& records, const List& list,
                      Find find) {
  const std::vector<std::string> ids = IdsOf(records);
  const std::set<std::string> listed(ids.begin(), ids.end());
  std::vector<std::string> gone;
  Around around;
  // A row that the cloud has deleted and made again pairs with the same row here.
  around.before = [&](db::Tx& tx) {
    gone.clear();
    for (const auto& [box_id, cloud_id] : store::AliasesOf(tx, importer.company, list.kind)) {
      if (listed.contains(cloud_id)) continue;
      aliases::Remove(tx, importer.company, list.kind, box_id);
      gone.push_back(box_id);
    }
  };
  around.append = [&](db::Tx& tx, json::Writer& out, const std::set<std::string>& used) {
    for (const std::string& id : gone) {
      if (used.contains(id)) continue;
      if (const auto row = find(tx, id)) WriteInactive(out, *row);
    }
  };
  TakeList(importer, records, list, around);
}

// An address without an id is known by its text.
CloudRow AddressKeys(Value record, const std::string& client_id) {
  KeyedRow keyed = KeysOfAddress(record);
  std::string seed =
      keyed.keys[0].empty() ? client_id : Concat({client_id, ":", keyed.keys[0].front()});
  return {.cloud_id = IdOf(record), .keyed = std::move(keyed), .seed = std::move(seed)};
}

std::vector<AddressRow> AddressRows(db::Tx& tx, const company::Company& company, Value client,
                                    const std::string& client_id) {
  const std::vector<Value> records = RowsOf(client, "addresses");
  std::vector<CloudRow> rows;
  for (const Value record : records) rows.push_back(AddressKeys(record, client_id));
  std::vector<KeyedRow> candidates;
  for (const auto& box : clients::AddressesOf(tx, company.company_id, client_id)) {
    if (aliases::FindByBoxId(tx, company.company_id, Kind::kAddress, box.id)) continue;
    candidates.push_back({.id = box.id, .keys = {NameKey(box.address)}});
  }
  const auto ids = IdsAmong(tx, company, Kind::kAddress, rows, candidates);
  std::vector<AddressRow> addresses;
  for (size_t i = 0; i < records.size(); ++i) {
    addresses.push_back({.record = records[i],
                         .id = ids[i],
                         .cloud_id = rows[i].cloud_id,
                         .box = clients::FindAddress(tx, company.company_id, ids[i])});
  }
  return addresses;
}

std::optional<std::string> FindAlias(db::Session& session, db::CompanyId company, Kind kind,
                                     const std::string& cloud_id) {
  if (cloud_id.empty()) return std::nullopt;
  return aliases::FindBoxId(session, company, kind, cloud_id);
}

}  // namespace

std::string FreshId(db::Session& session, const company::Company& company, Kind kind,
                    std::string_view cloud_id) {
  const std::optional<std::string> id = ParseId(cloud_id);
  if (id && !aliases::FindByBoxId(session, company.company_id, kind, *id)) return *id;
  return crypto::DerivedId(company.id, Concat({"cloud:", static_cast<int>(kind), ":", cloud_id}));
}

void PutAlias(db::Tx& tx, db::CompanyId company, Kind kind, std::string_view cloud_id,
              std::string_view box_id) {
  if (cloud_id.empty() || aliases::FindBoxId(tx, company, kind, cloud_id) == box_id) return;
  aliases::Put(tx, company,
               {.kind = kind,
                .cloud_id = std::string(cloud_id),
                .box_id = std::string(box_id),
                .cloud_public_id = std::nullopt});
}

std::vector<std::string> IdsAmong(db::Session& session, const company::Company& company, Kind kind,
                                  const std::vector<CloudRow>& rows,
                                  const std::vector<KeyedRow>& candidates) {
  std::vector<std::string> ids(rows.size());
  std::vector<KeyedRow> unknown;
  std::vector<size_t> indexes;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (auto known = FindAlias(session, company.company_id, kind, rows[i].cloud_id)) {
      ids[i] = *std::move(known);
    } else {
      unknown.push_back(rows[i].keyed);
      indexes.push_back(i);
    }
  }
  const auto pairs = Pair(unknown, candidates);
  for (size_t i = 0; i < unknown.size(); ++i) {
    const CloudRow& row = rows[indexes[i]];
    const std::string& seed = row.cloud_id.empty() ? row.seed : row.cloud_id;
    ids[indexes[i]] = pairs[i] ? candidates[*pairs[i]].id : FreshId(session, company, kind, seed);
  }
  return ids;
}

std::vector<std::string> IdsHere(db::Session& session, const company::Company& company, Kind kind,
                                 const std::vector<CloudRow>& rows) {
  const bool all_known = std::ranges::all_of(rows, [&](const CloudRow& row) {
    return FindAlias(session, company.company_id, kind, row.cloud_id).has_value();
  });
  std::vector<KeyedRow> candidates;
  if (!all_known) {
    for (store::UnpairedRow& row : store::Unpaired(session, company.company_id, kind)) {
      candidates.push_back(std::move(row.keyed));
    }
  }
  return IdsAmong(session, company, kind, rows, candidates);
}

std::optional<size_t> IndexIn(std::string_view field, std::string_view list) {
  const std::string start = Concat({list, "["});
  if (!field.starts_with(start)) return std::nullopt;
  field.remove_prefix(start.size());
  size_t index = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), index);
  if (error != std::errc() || end == field.data()) return std::nullopt;
  return index;
}

void WriteBatch(const Importer& importer, const Batch& batch) {
  std::vector<size_t> rows(batch.size);
  for (size_t i = 0; i < batch.size; ++i) rows[i] = i;
  Refused all;
  for (bool is_written = false; !is_written && (!rows.empty() || batch.size == 0);) {
    try {
      batch.write(rows);
      is_written = true;
    } catch (const Refusal& refusal) {
      // At least one row is refused each time, so that this ends.
      Refused refused = RefusedBy(refusal, batch, rows);
      std::erase_if(rows, [&](size_t row) { return refused.contains(row); });
      all.merge(refused);
      if (batch.size == 0) break;
    }
  }
  if (!all.empty()) Report(importer, batch, all);
}

void TakeCompany(const Importer& importer, Value record) {
  // The fields that are refused stay as they are here.
  std::set<std::string> left_out;
  for (;;) {
    try {
      importer.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
        const company::Company company = company::Get(tx, importer.company);
        importer.import(tx, Document(company, &record, left_out, [](json::Writer&) {}), stamp);
      });
      return;
    } catch (const Refusal& refusal) {
      const size_t before = left_out.size();
      for (const FieldError& error : refusal.errors) {
        std::string_view field = error.field;
        const std::string start = PathOf("");
        if (!field.starts_with(start)) continue;
        field.remove_prefix(start.size());
        left_out.emplace(field.substr(0, field.find_first_of(".[")));
      }
      const Batch batch{.id_of = [&](size_t) { return IdOf(record); }, .difference = "link"};
      Report(importer, batch, {{0, refusal.detail}});
      if (left_out.size() == before) return;
    }
  }
}

void TakePaymentMethods(const Importer& importer, const std::vector<Value>& records,
                        bool is_complete) {
  const db::CompanyId company = importer.company;
  const auto find = [&](db::Session& session, const std::string& id) {
    return company::FindPaymentMethod(session, company, id);
  };
  const List list{.kind = Kind::kPaymentMethod,
                  .name = "payment_methods",
                  .keys = KeysOfPaymentMethod,
                  .write = [&](json::Writer& out, db::Tx& tx, Value record, const std::string& id) {
                    const auto box = find(tx, id);
                    WritePaymentMethod(out, record, id, box ? &*box : nullptr);
                  }};
  if (is_complete && !records.empty()) {
    TakeCompleteList(importer, records, list, find);
  } else if (!records.empty()) {
    TakeList(importer, records, list);
  }
}

void TakeTables(const Importer& importer, const std::vector<Value>& records, bool is_complete) {
  const db::CompanyId company = importer.company;
  const auto find = [&](db::Session& session, const std::string& id) {
    return company::FindTable(session, company, id);
  };
  const List list{.kind = Kind::kTable,
                  .name = "tables",
                  .keys = KeysOfTable,
                  .write = [&](json::Writer& out, db::Tx& tx, Value record, const std::string& id) {
                    const auto box = find(tx, id);
                    WriteTable(out, record, id, box ? &*box : nullptr);
                  }};
  if (is_complete) {
    TakeCompleteList(importer, records, list, find);
  } else if (!records.empty()) {
    TakeList(importer, records, list);
  }
}

void TakeUsers(const Importer& importer, const std::vector<Value>& records) {
  if (records.empty()) return;
  TakeList(importer, records,
           {.kind = Kind::kUser,
            .name = "users",
            .keys = KeysOfPerson,
            .write = [&](json::Writer& out, db::Tx& tx, Value record, const std::string& id) {
              const auto box = users::Find(tx, importer.company, id);
              WriteUser(out, record, id, box ? &*box : nullptr);
            }});
}

void TakeCategories(const Importer& importer, const std::vector<Value>& records) {
  if (records.empty()) return;
  std::vector<menu::Category> box;
  int64_t place = 0;
  const Around around{.before = [&](db::Tx& tx) {
    box = menu::AllCategories(tx, importer.company);
    place = 0;
  }};
  const auto write = [&](json::Writer& out, db::Tx&, Value record, const std::string& id) {
    const auto found = std::ranges::find(box, id, &menu::Category::id);
    out.BeginObject();
    WriteCategory(out, record, id, place++, found == box.end() ? nullptr : &*found);
    out.EndObject();
  };
  TakeList(importer, records,
           {.kind = Kind::kCategory,
            .name = "categories",
            .keys = KeysOfTable,
            .write = write,
            .difference = "menu"},
           around);
}

void TakeClients(const Importer& importer, const std::vector<Value>& records) {
  if (records.empty()) return;
  std::vector<std::pair<std::string, std::string>> addresses;  // ids in the cloud and here
  const Around around{.before = [&](db::Tx&) { addresses.clear(); },
                      .after =
                          [&](db::Tx& tx) {
                            for (const auto& [cloud_id, id] : addresses) {
                              PutAlias(tx, importer.company, Kind::kAddress, cloud_id, id);
                            }
                          }};
  const auto write = [&](json::Writer& out, db::Tx& tx, Value record, const std::string& id) {
    const company::Company company = company::Get(tx, importer.company);
    const auto box = clients::Find(tx, importer.company, id);
    const std::vector<AddressRow> rows = AddressRows(tx, company, record, id);
    WriteClient(out, record, id, box ? &*box : nullptr, rows);
    for (const AddressRow& row : rows) addresses.emplace_back(row.cloud_id, row.id);
  };
  TakeList(importer, records,
           {.kind = Kind::kClient, .name = "clients", .keys = KeysOfPerson, .write = write},
           around);
}

}  // namespace comanda::cloud
