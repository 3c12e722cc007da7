#include "db/postgresql/published.h"

#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"

namespace comanda::db {
namespace {

constexpr std::string_view kScratch = "comanda_wanted_views";

// 'orders', 'items' …
std::string Names(const Published& published) {
  std::string names;
  for (const View& view : published.views) {
    names += Concat({names.empty() ? "" : ", ", "'", view.name, "'"});
  }
  return names;
}

// A text that is the same for two schemas with the same views of one owner.
std::string Definitions(Connection& connection, std::string_view schema,
                        const Published& published) {
  return connection.Text(Concat(
      {"SELECT coalesce(pg_catalog.string_agg(c.relname || ' ' || pg_catalog.pg_get_userbyid("
       "c.relowner) || ' ' || coalesce(pg_catalog.array_to_string(c.reloptions, ','), '') || ' ' "
       "|| pg_catalog.pg_get_viewdef(c.oid), ' ' ORDER BY c.relname), '') "
       "FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace "
       "WHERE n.nspname = '",
       schema, "' AND c.relkind = 'v' AND c.relname IN (", Names(published), ")"}));
}

void MakeViews(Connection& connection, std::string_view schema, const Published& published) {
  for (const View& view : published.views) {
    connection.RunScript(
        Concat({"CREATE OR REPLACE VIEW ", schema, ".", view.name, " AS ", view.select}));
  }
}

void Make(Connection& connection, const Published& published) {
  connection.Execute(Concat({"CREATE SCHEMA IF NOT EXISTS ", published.schema}));
  MakeIndexes(connection, published);
  MakeViews(connection, published.schema, published);
}

// Runs it, and takes back what it did where it fails. Its failure is logged.
template <typename Step>
void InSavepoint(Connection& connection, std::string_view what, Step&& step) {
  connection.Execute("SAVEPOINT publishing");
  try {
    step();
    connection.Execute("RELEASE SAVEPOINT publishing");
  } catch (const Fault& fault) {
    if (connection.is_lost()) throw;
    log::Error(what, {{"why", fault.cause}});
    connection.Execute("ROLLBACK TO SAVEPOINT publishing");
    connection.ClearTrouble();
  }
}

// The same with the transactions of the step.
template <typename Step>
void OrLogged(Connection& connection, std::string_view what, Step&& step) {
  try {
    step();
  } catch (const Fault& fault) {
    if (connection.is_lost()) throw;
    log::Error(what, {{"why", fault.cause}});
    connection.Rollback();
    connection.ClearTrouble();
  }
}

template <typename Step>
void InTransaction(Connection& connection, std::string_view what, Step&& step) {
  OrLogged(connection, what, [&] {
    connection.BeginWriting();
    connection.Execute("SET LOCAL lock_timeout = '2s'");
    step();
    if (!connection.Commit()) throw connection.failure();
  });
}

constexpr std::string_view kNotMade =
    "the views for questions in SQL are not those of this program, and the start goes on without "
    "them";

// What this program would make, in a transaction that is rolled back.
bool AreThere(Connection& connection, const Published& published) {
  const std::string found = Definitions(connection, published.schema, published);
  std::string wanted;
  connection.BeginWriting();
  try {
    connection.Execute(Concat({"CREATE SCHEMA ", kScratch}));
    MakeViews(connection, kScratch, published);
    wanted = Definitions(connection, kScratch, published);
  } catch (const Fault&) {
    connection.Rollback();
    throw;
  }
  connection.Rollback();
  return found == wanted;
}

// Where the role is there.
bool MayRead(Connection& connection, const Published& published) {
  return connection.Integer(Concat(
             {"SELECT count(*) FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON "
              "n.oid = c.relnamespace WHERE n.nspname = '",
              published.schema, "' AND c.relname IN (", Names(published),
              ") AND pg_catalog.has_schema_privilege('", published.role,
              "', n.oid, 'USAGE') AND pg_catalog.has_table_privilege('", published.role,
              "', c.oid, 'SELECT')"})) == static_cast<int64_t>(published.views.size());
}

void Grant(Connection& connection, const Published& published) {
  connection.Execute(Concat({"GRANT USAGE ON SCHEMA ", published.schema, " TO ", published.role}));
  for (const View& view : published.views) {
    connection.Execute(
        Concat({"GRANT SELECT ON ", published.schema, ".", view.name, " TO ", published.role}));
  }
}

// Whoever can make a function or a table can look at the server from inside, and fill its disk.
// PUBLIC can in the schema `public` of a database that older servers made, and for the length of a
// session in each.
void TakeRightsToMake(Connection& connection, const Published& published) {
  struct Right {
    std::string question, taken;
  };
  const std::string database = connection.Text("SELECT quote_ident(current_database())");
  const Right rights[] = {
      {Concat({"SELECT CASE WHEN to_regnamespace('public') IS NULL THEN 'f' ELSE "
               "CAST(has_schema_privilege('",
               published.role, "', 'public', 'CREATE') AS text) END"}),
       "REVOKE CREATE ON SCHEMA public FROM PUBLIC"},
      {Concat({"SELECT CAST(has_database_privilege('", published.role,
               "', current_database(), 'TEMPORARY') AS text)"}),
       Concat({"REVOKE TEMPORARY ON DATABASE ", database, " FROM PUBLIC"})},
  };
  for (const Right& right : rights) {
    if (!connection.Text(right.question).starts_with('t')) continue;
    InTransaction(connection, "a right of PUBLIC cannot be taken",
                  [&] { connection.Execute(right.taken); });
    if (connection.Text(right.question).starts_with('t')) {
      log::Warning("who reads the views can also make objects in the database: run the SQL",
                   {{"sql", right.taken}});
    }
  }
  connection.TakeWarning();
}

}  // namespace

void MakeIndexes(Connection& connection, const Published& published) {
  for (const std::string_view index : published.indexes) {
    connection.RunScript(Concat({"CREATE INDEX IF NOT EXISTS ", index}));
  }
}

void DetachViews(Connection& connection, const Published& published) {
  InSavepoint(connection, "the views for questions in SQL stay as they are", [&] {
    std::vector<std::string> statements;
    Statement& statement = connection.Take(Concat(
        {"SELECT pg_catalog.format('CREATE OR REPLACE VIEW %I.%I AS SELECT %s WHERE "
         "CAST(pg_catalog.current_setting(%L) AS boolean)', n.nspname, c.relname, "
         "pg_catalog.string_agg(pg_catalog.format('CAST(NULL AS %s) AS %I', "
         "pg_catalog.format_type(a.atttypid, a.atttypmod), a.attname), ', ' ORDER BY a.attnum), "
         "'this view could not be made: the log of comanda-head says why') "
         "FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = "
         "c.relnamespace JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid "
         "WHERE n.nspname = '",
         published.schema, "' AND c.relkind = 'v' AND c.relname IN (", Names(published),
         ") AND a.attnum > 0 AND NOT a.attisdropped GROUP BY n.nspname, c.relname"}));
    try {
      connection.Bind(statement, nullptr, 0, Copies::kCopied);
      while (connection.Step(statement)) statements.emplace_back(statement.View(0));
    } catch (...) {
      connection.Give(statement);
      throw;
    }
    connection.Give(statement);
    for (const std::string& one : statements) connection.RunScript(one);
  });
}

void AttachViews(Connection& connection, const Published& published) {
  InSavepoint(connection, kNotMade, [&] { Make(connection, published); });
}

void Publish(Connection& connection, const Published& published) {
  bool are_there = true;
  OrLogged(connection, kNotMade, [&] { are_there = AreThere(connection, published); });
  if (!are_there) {
    InTransaction(connection, kNotMade, [&] {
      connection.Execute("SET LOCAL statement_timeout = 0");  // for an index of a large table
      Make(connection, published);
    });
  }
  if (!MakeRole(connection, published)) {
    log::Warning(
        "nobody can be given access to the views for questions in SQL: have a superuser run the "
        "SQL",
        {{"sql", RoleSql(published)}});
    return;
  }
  TakeRightsToMake(connection, published);
}

std::string RoleSql(const Published& published) {
  return Concat({"CREATE ROLE ", published.role, " NOLOGIN; GRANT USAGE ON SCHEMA ",
                 published.schema, " TO ", published.role,
                 "; GRANT SELECT ON ALL TABLES IN SCHEMA ", published.schema, " TO ",
                 published.role, ";"});
}

bool RoleIsThere(Connection& connection, const Published& published) {
  return connection.Integer(Concat({"SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = '",
                                    published.role, "'"})) > 0;
}

bool MakeRole(Connection& connection, const Published& published) {
  const bool may_make = connection.Integer(
                            "SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = current_user "
                            "AND (rolcreaterole OR rolsuper)") > 0;
  if (may_make && !RoleIsThere(connection, published)) {
    // Roles are of the whole server: another database of it may be at this too.
    InTransaction(connection, "a role is not made", [&] {
      connection.Execute(Concat({"CREATE ROLE ", published.role, " NOLOGIN"}));
    });
  }
  if (!RoleIsThere(connection, published)) return false;
  if (!MayRead(connection, published)) {
    InTransaction(connection, "the role cannot be let read the views",
                  [&] { Grant(connection, published); });
  }
  return true;
}

}  // namespace comanda::db
