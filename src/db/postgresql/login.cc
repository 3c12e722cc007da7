#include "db/postgresql/login.h"

#include "base/concat.h"
#include "base/problem.h"
#include "db/postgresql/owner.h"
#include "engine/connection.h"

namespace comanda::db {
namespace {

// Without the statement, which has the verifier.
[[noreturn]] void ThrowWithoutStatement(const Fault& fault) {
  const size_t end = fault.cause.find("): ");
  throw Fault(fault.kind, "the login is not made: " +
                              fault.cause.substr(0, end == std::string::npos ? end : end + 1));
}

// "" where there is no such role, "login" where it is what MakeLogin() makes, else "other".
std::string FindRole(Connection& connection, const Login& login, std::string_view role) {
  return connection.Text(Concat(
      {"SELECT CASE WHEN r.rolcanlogin AND NOT (r.rolsuper OR r.rolcreaterole OR r.rolcreatedb OR "
       "r.rolreplication OR r.rolbypassrls) AND (SELECT count(*) FROM pg_catalog.pg_auth_members "
       "AS m WHERE m.member = r.oid) = 1 AND EXISTS (SELECT 1 FROM pg_catalog.pg_auth_members AS m "
       "JOIN pg_catalog.pg_roles AS o ON o.oid = m.roleid WHERE m.member = r.oid AND o.rolname = '",
       role, "') THEN 'login' ELSE 'other' END FROM pg_catalog.pg_roles AS r WHERE r.rolname = '",
       login.name, "'"}));
}

std::vector<std::string> Statements(const Login& login, std::string_view role,
                                    const std::string& verifier, bool is_new) {
  std::vector<std::string> statements;
  statements.push_back(Concat(
      {is_new ? "CREATE" : "ALTER", " ROLE ", login.name, " LOGIN PASSWORD '", verifier, "'"}));
  if (is_new) statements.push_back(Concat({"GRANT ", role, " TO ", login.name}));
  for (const auto& [name, value] : login.settings) {
    statements.push_back(Concat({"ALTER ROLE ", login.name, " SET ", name, " = '", value, "'"}));
  }
  return statements;
}

bool MayMakeRoles(Connection& connection, std::string_view role) {
  // From version 16 on, who makes a role may grant it; another's is granted by an administrator.
  return connection.Integer(Concat(
             {"SELECT count(*) FROM pg_catalog.pg_roles AS r WHERE r.rolname = current_user AND "
              "(r.rolsuper OR (r.rolcreaterole AND (current_setting('server_version_num') < "
              "'160000' OR pg_catalog.pg_has_role('",
              role, "', 'USAGE WITH ADMIN OPTION'))))"})) > 0;
}

}  // namespace

MadeLogin MakeLogin(const Settings& settings, const Clock& clock, const Login& login) {
  using enum MadeLogin::Outcome;
  const Published& published = *settings.published;
  Connection connection(settings, Connection::Role::kWriter, clock);
  if (connection.Integer(Concat({"SELECT count(*) FROM pg_catalog.pg_views WHERE schemaname = '",
                                 published.schema, "'"})) == 0) {
    throw Refusal(Problem::kNotFound, "the database has no views yet: start `comanda serve` once");
  }
  const std::string found = FindRole(connection, login, published.role);
  if (found == "other") {
    throw Refusal(
        Problem::kValidationFailed,
        login.name + " is another user or role of the database server: take another name");
  }
  const std::string verifier = connection.PasswordVerifier(login.name, login.password);
  const std::vector<std::string> statements =
      Statements(login, published.role, verifier, found.empty());
  const bool has_role = MakeRole(connection, published);
  if (!has_role || !MayMakeRoles(connection, published.role)) {
    std::string sql;
    if (!has_role) sql += RoleSql(published) + "\n";
    for (const std::string& statement : statements) sql += statement + ";\n";
    sql += LockRightsSql(connection.Text("SELECT quote_ident(current_user)"));
    return {.outcome = kNotAllowed, .sql = sql};
  }
  try {
    connection.BeginWriting();
    // Where the server logs statements, this has the verifier at most.
    for (const std::string& statement : statements) connection.Execute(statement);
    if (!connection.Commit()) throw connection.failure();
  } catch (const Fault& fault) {
    connection.Rollback();
    ThrowWithoutStatement(fault);
  }
  return {.outcome = found.empty() ? kMade : kNewPassword, .sql = ""};
}

}  // namespace comanda::db
