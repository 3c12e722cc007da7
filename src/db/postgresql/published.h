#pragma once

// What others may read of a database in SQL: views in a schema of their own, and a role that may
// read these and nothing else. The program owns both. A view reads its tables with the rights of
// its owner, so that whoever asks needs none on a table.
//
// The names and columns are a promise, and others build views of their own on ours. Therefore no
// view is ever dropped. CREATE OR REPLACE VIEW keeps those of others, and refuses to take a column
// away or to change its type. Before migrations each view gets a definition that reads no table, so
// that no migration meets one that depends on the table it makes anew.
//
// Nothing here keeps the program from serving: what cannot be made is logged, with what a superuser
// has to do, and the next start tries again. A view that could not be made behind a migration fails
// with a sentence that says so: an empty one would be believed.

#include <string>
#include <string_view>
#include <vector>

#include "engine/connection.h"

namespace comanda::db {

struct View {
  std::string_view name;
  std::string select;  // its tables are of the first schema of the search_path
};

struct Published {
  std::string_view schema;
  std::string_view role;  // it cannot log in: others are its members
  std::vector<View> views;
  // Behind CREATE INDEX IF NOT EXISTS: indexes of the tables, for what these views are asked for.
  std::vector<std::string_view> indexes;
};

// On the writer's connection, behind the lock of the owner. In the transaction of migrations,
// before the first and behind the last one.
void DetachViews(Connection& connection, const Published& published);
void AttachViews(Connection& connection, const Published& published);

// At each start: makes what is not there or of another program's version, with a role that may read
// it. Blocks for 2 s where somebody reads a view that has to be replaced.
void Publish(Connection& connection, const Published& published);

// Makes the indexes in the first schema of the search_path.
void MakeIndexes(Connection& connection, const Published& published);

// What a superuser runs where this user may not make the role.
std::string RoleSql(const Published& published);
bool RoleIsThere(Connection& connection, const Published& published);
// Makes it where it is missing, and lets it read the views. False where this user may not make it.
bool MakeRole(Connection& connection, const Published& published);

}  // namespace comanda::db
