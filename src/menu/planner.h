#pragma once

// What a call will do to the catalogue, row by row, before anything is written: so that every bad
// row is listed. Reads alone, in a snapshot or in the writer's transaction.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "db/session.h"
#include "json/reader.h"
#include "menu/merge.h"
#include "menu/patch.h"
#include "menu/product.h"

namespace comanda::menu {

struct Planned {
  const ProductPatch* patch;
  // As it is stored, and as it shall be. Modifiers are loaded in both or in neither.
  std::optional<Product> before;
  Product after;
  Targets targets;  // of the patch's variants
};

class Planner {
 public:
  // All of them outlive the plan.
  Planner(db::Session& session, db::CompanyId company, json::Errors& errors);

  void Insert(const ProductPatch& patch);
  void Change(const ProductPatch& patch, Product stored);
  // By id, else by the sku of a variant, else an insert.
  void Upsert(const ProductPatch& patch);
  // Behind the last row: what only all of them together show. Throws the errors, where any.
  void Finish();

  const std::vector<Planned>& rows() const { return rows_; }
  const std::vector<Category>& new_categories() const { return new_categories_; }

 private:
  void Plan(const ProductPatch& patch, std::optional<Product> before);
  std::optional<Product> FindStored(const ProductPatch& patch);
  void Categorise(const ProductPatch& patch, bool is_new, Product& product);
  std::optional<std::string> FindCategory(const ProductPatch& patch);
  void RefuseUnknownStation(const ProductPatch& patch);
  void RefuseForeignIds(const ProductPatch& patch, const std::optional<Product>& before);
  void RefuseTakenSkus();
  void Note(const Place& place, std::string_view field, FieldCode code, std::string message);

  db::Session& session_;
  const db::CompanyId company_;
  json::Errors& errors_;
  std::vector<Category> categories_;  // stored and new ones
  std::vector<Category> new_categories_;
  std::unordered_map<std::string, int64_t> next_positions_;  // by category
  std::unordered_set<std::string> hit_;                      // products
  std::unordered_set<std::string> stations_;                 // that are there
  std::unordered_map<std::string, size_t> claimed_;          // ids of new rows, by row of the call
  std::vector<Planned> rows_;
};

}  // namespace comanda::menu
