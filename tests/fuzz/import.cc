// The import file: what it reads, and that it can be read twice.

#include "app/import.h"

#include "app/embedded.h"
#include "base/log.h"
#include "fuzz/fuzz.h"
#include "support/test_database.h"

namespace comanda {
namespace {

using fuzz::Must;

// Rows that were taken make the next import slower.
constexpr int kImportsPerDatabase = 200;

std::optional<app::ImportSummary> Import(testing::TestDatabase& database, std::string_view text) {
  try {
    return app::Import(*database, text);
  } catch (const Refusal& refusal) {
    fuzz::CheckRefusal(refusal);
    for (const FieldError& error : refusal.errors) {
      Must(error.message.find("(line ") != std::string::npos, "a wrong field has its line");
    }
    return std::nullopt;
  }
}

void Run(std::string_view text) {
  static std::unique_ptr<testing::TestDatabase> database;
  static int imports = 0;
  if (!database) {
    log::SetLevel(log::Level::kError);
    database = std::make_unique<testing::TestDatabase>(
        db::Settings{.path = {}, .migrations = app::Migrations(), .vfs = {}});
  }
  if (!Import(*database, text)) return;
  const std::optional<app::ImportSummary> again = Import(*database, text);
  Must(again.has_value(), "what was taken is taken again");
  for (const app::CompanySummary& company : again->companies) {
    for (const app::ImportCounts& counts : company.counts) {
      Must(counts.inserted == 0 && counts.updated == 0,
           "the same file changes nothing: " + std::string(counts.kind));
    }
  }
  if (++imports % kImportsPerDatabase == 0) database.reset();
}

}  // namespace
}  // namespace comanda

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  comanda::Run(comanda::fuzz::TextOf(data, size));
  return 0;
}
