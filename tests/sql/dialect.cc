// What comanda-head's engine says, for tests and scripts. Statements are ended by a NUL byte.
//   comanda_dialect translate <SQL   the statements of a migration in PostgreSQL's words
//   comanda_dialect migrations       those of the migrations that are in comanda-head

#include <cstdio>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>

#include "app/embedded.h"
#include "base/problem.h"
#include "db/postgresql/dialect.h"

namespace {

void Print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::putchar('\0');
}

void Translate(std::string_view migration) {
  for (const std::string& statement : comanda::db::ForPostgresql(migration)) Print(statement);
}

}  // namespace

int main(int count, char** words) {
  const std::string_view verb = count > 1 ? words[1] : "";
  try {
    if (verb == "translate") {
      Translate(std::string(std::istreambuf_iterator<char>(std::cin), {}));
    } else if (verb == "migrations") {
      for (const comanda::db::Migration& migration : comanda::app::Migrations()) {
        Translate(migration.sql);
      }
    } else {
      std::fputs("usage: comanda_dialect translate|migrations\n", stderr);
      return 2;
    }
  } catch (const comanda::Fault& fault) {
    std::fprintf(stderr, "comanda_dialect: %s\n", fault.cause.c_str());
    return 1;
  }
  return 0;
}
