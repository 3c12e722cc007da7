// What comanda-head's engine says, for tests and scripts. Texts are ended by a NUL byte.
//   comanda_dialect translate <SQL   the statements of a migration in PostgreSQL's words
//   comanda_dialect migrations       those of the migrations that are in comanda-head
//   comanda_dialect catalogue        the query that reads what a schema consists of
//   comanda_dialect compare <ROWS    what differs; what forbids to serve begins with "!". The
//   number of
//                                    rows that were found, these, and those that must be there: of
//                                    each its five columns

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "app/embedded.h"
#include "base/problem.h"
#include "db/postgresql/catalogue.h"
#include "db/postgresql/dialect.h"

namespace {

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::putchar('\0');
}

void Translate(std::string_view migration) {
  for (const std::string& statement : comanda::db::ForPostgresql(migration)) Print(statement);
}

std::string Input() { return std::string(std::istreambuf_iterator<char>(std::cin), {}); }

void CompareCatalogues(std::string_view input) {
  const auto next = [&input] {
    const std::string text(input.substr(0, input.find('\0')));
    input.remove_prefix(text.size() + 1);
    return text;
  };
  const size_t count = std::stoul(next());
  std::vector<comanda::db::CatalogueRow> found, wanted;
  while (!input.empty()) {
    // The order of the braces is that of the calls.
    comanda::db::CatalogueRow row{next(), next(), next(), next(), next()};
    (found.size() < count ? found : wanted).push_back(std::move(row));
  }
  for (const auto& [sentence, forbids] : comanda::db::Differences(found, wanted)) {
    Print((forbids ? "!" : "") + sentence);
  }
}

}  // namespace

int main(int count, char** words) {
  const std::string_view verb = count > 1 ? words[1] : "";
  try {
    if (verb == "translate") {
      Translate(Input());
    } else if (verb == "migrations") {
      for (const comanda::db::Migration& migration : comanda::app::Migrations()) {
        Translate(migration.sql);
      }
    } else if (verb == "catalogue") {
      Print(comanda::db::kReadCatalogue);
    } else if (verb == "compare") {
      CompareCatalogues(Input());
    } else {
      std::fputs("usage: comanda_dialect translate|migrations|catalogue|compare\n", stderr);
      return 2;
    }
  } catch (const comanda::Fault& fault) {
    std::fprintf(stderr, "comanda_dialect: %s\n", fault.cause.c_str());
    return 1;
  }
  return 0;
}
