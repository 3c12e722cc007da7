#pragma once

// A TestDatabase with the restaurant's tables and two companies in it.

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/source_dir.h"
#include "support/test_database.h"

namespace comanda::testing {

inline constexpr db::CompanyId kCompany{1};
inline constexpr std::string_view kCompanyId = "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90";
inline constexpr db::CompanyId kOtherCompany{2};
inline constexpr std::string_view kOtherCompanyId = "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c91";

// The migrations of src/app, sorted by number. Their texts are valid until the program ends.
inline std::vector<db::Migration> RestaurantMigrations() {
  static const std::vector<std::pair<std::string, std::string>> files = [] {
    std::vector<std::pair<std::string, std::string>> found;
    for (const auto& entry :
         std::filesystem::directory_iterator(SourceDirectory() + "/src/app/migrations")) {
      if (!entry.is_regular_file()) continue;  // those of the other engine
      std::ifstream file(entry.path());
      found.emplace_back(entry.path().stem().string(),
                         std::string(std::istreambuf_iterator<char>(file), {}));
    }
    std::sort(found.begin(), found.end());
    return found;
  }();
  std::vector<db::Migration> migrations;
  for (const auto& [name, sql] : files) {
    migrations.push_back({static_cast<int>(migrations.size()) + 1, name, sql});
  }
  return migrations;
}

inline db::Settings RestaurantSettings() {
  db::Settings settings;
  settings.migrations = RestaurantMigrations();
  return settings;
}

class RestaurantDatabase : public TestDatabase {
 public:
  RestaurantDatabase() : RestaurantDatabase(RestaurantSettings()) {}
  // With further migrations behind those of the restaurant.
  explicit RestaurantDatabase(db::Settings settings) : TestDatabase(std::move(settings)) {
    (*this)->Write([](db::Tx& tx, const db::Stamp& stamp) {
      for (const auto& [company, id] :
           {std::pair(kCompany, kCompanyId), std::pair(kOtherCompany, kOtherCompanyId)}) {
        tx.Run(
            "INSERT INTO company (company_id, id, name, country_code, timezone, business_hours, "
            "currency, created_at, updated_at) "
            "VALUES ($1, $2, 'La Terraza', 'PE', 'America/Lima', '{}', 'PEN', $3, $3)",
            company, id, stamp.now);
        tx.Run("INSERT INTO company_counter (company_id) VALUES ($1)", company);
      }
    });
  }
};

}  // namespace comanda::testing
