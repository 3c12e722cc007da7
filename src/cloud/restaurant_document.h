#pragma once

// Translates records of the cloud into rows of an import document (app/IMPORT.md) under ids of this
// box. The cloud is any server that speaks the specification, whose records may lack any field:
// a field that is missing or of another kind stays as it is here, one that is null is cleared. What
// identifies the restaurant (country, time zone, currency, start of the day) is always this box's.
// Pure.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/clients.h"
#include "cloud/pairing.h"
#include "company/company.h"
#include "json/reader.h"
#include "json/writer.h"
#include "menu/product.h"
#include "users/users.h"

namespace comanda::cloud {

// The id of a record: a text or a number. Empty where it has none.
std::string IdOf(json::Value record);
// A text of the record, trimmed; empty where it has none.
std::string TextMember(json::Value record, std::string_view name);
// The objects of an array that is a member of the record; nothing where it is none.
std::vector<json::Value> RowsOf(json::Value record, std::string_view list);

// The keys by which a record is paired (cloud/pairing.h).
KeyedRow KeysOfPaymentMethod(json::Value record);
KeyedRow KeysOfTable(json::Value record);   // and of a category
KeyedRow KeysOfPerson(json::Value record);  // a user or a client
KeyedRow KeysOfAddress(json::Value record);
KeyedRow KeysOfVariant(json::Value record);
KeyedRow KeysOfProduct(json::Value record, json::Value category);
// Of a modifier category or modifier.
KeyedRow KeysOfModifier(json::Value record);

// An import document of one company: its own fields, from `record` where that is not null, without
// those of `left_out`; then what `write_lists` writes.
std::string Document(const company::Company& company, const json::Value* record,
                     const std::set<std::string>& left_out,
                     const std::function<void(json::Writer&)>& write_lists);
// The document that creates the restaurant on an empty box. Country and time zone are those given,
// else the record's; nothing where one is known of neither side.
std::optional<std::string> NewCompanyDocument(json::Value record, std::string_view country_code,
                                              std::string_view timezone);

// Each writes one row. `box` is the row here that it replaces, or null.
void WritePaymentMethod(json::Writer& out, json::Value record, std::string_view id,
                        const company::PaymentMethod* box);
void WriteTable(json::Writer& out, json::Value record, std::string_view id,
                const company::Table* box);
void WriteUser(json::Writer& out, json::Value record, std::string_view id, const users::User* box);
// An address of a client, with its id here and the row that it replaces.
struct AddressRow {
  json::Value record;
  std::string id;
  std::string cloud_id;
  std::optional<clients::Address> box;
};
void WriteClient(json::Writer& out, json::Value record, std::string_view id,
                 const clients::Client* box, std::span<const AddressRow> addresses);
// Rows that a complete list lacks: they cannot be used any more.
void WriteInactive(json::Writer& out, const company::PaymentMethod& box);
void WriteInactive(json::Writer& out, const company::Table& box);

// The members of a category without its products, in an object that the caller has begun.
void WriteCategory(json::Writer& out, json::Value record, std::string_view id, int64_t position,
                   const menu::Category* box);

// The rows of a product's record with their ids here.
struct ModifierCategoryRow {
  json::Value record;
  std::string id;
  std::vector<std::pair<json::Value, std::string>> modifiers;
};
struct ProductRows {
  json::Value record;
  std::string id;
  // A record without variants has its only variant's fields itself.
  std::vector<std::pair<json::Value, std::string>> variants;
  std::vector<ModifierCategoryRow> modifier_categories;
  // Modifier categories and modifiers here that the cloud has no more: they are hidden.
  std::set<std::string> gone;
};
// With the cloud's own ids; a record without variants or a variant without an id has an empty one.
ProductRows RowsUnderCloudIds(json::Value record);

struct ProductContext {
  const menu::Product* box = nullptr;
  int decimals = 2;
  int64_t position = 0;                             // in its list, for a record that does not tell
  const std::set<std::string>* stations = nullptr;  // of this box: others are left out; null: none
};
// Without stock counts.
void WriteProduct(json::Writer& out, const ProductRows& rows, const ProductContext& context);

// A hash of what this box understands of a product's record, without stock counts and category.
// Equal for the record in the menu and that of GET /v1/menu/products/{id}.
std::string Fingerprint(json::Value product);

}  // namespace comanda::cloud
