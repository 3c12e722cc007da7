#include "office/login.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"

namespace comanda::office {
namespace {

constexpr size_t kNameMax = 63;  // bytes of a name in PostgreSQL

void RequireName(const std::string& name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool is_sound = !name.empty() && name.size() <= kNameMax && is_letter(name.front()) &&
                        std::ranges::all_of(name, [&](char c) {
                          return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
                        });
  if (!is_sound) {
    throw Refusal(Problem::kValidationFailed,
                  "'" + name +
                      "' cannot be a login: up to 63 letters a to z, digits and underscores, the "
                      "first one a letter");
  }
  // pg_… is the server's own; the others mean something else in SQL.
  for (const char* taken : {"public", "none", "current_user", "session_user", "current_role"}) {
    if (name == taken || name.starts_with("pg_")) {
      throw Refusal(Problem::kValidationFailed,
                    "'" + name + "' is a name of the database server itself: take another one");
    }
  }
}

std::string ReadPassword(const std::string& path) {
  struct stat found = {};
  if (::stat(path.c_str(), &found) == 0 && (found.st_mode & 077) != 0) {
    throw Refusal(Problem::kValidationFailed,
                  path + " holds a password and may be read by others: `chmod 600 " + path + "`");
  }
  const std::optional<std::string> text = ReadFile(path);
  if (!text) throw Refusal(Problem::kNotFound, "there is no file " + path);
  std::string password = text->substr(0, text->find_first_of("\r\n"));
  if (password.empty()) {
    throw Refusal(Problem::kValidationFailed, "the first line of " + path + " has no password");
  }
  if (password.find('\0') != std::string::npos) {
    throw Refusal(Problem::kValidationFailed, "the password in " + path + " has a byte 0");
  }
  return password;
}

}  // namespace

db::MadeLogin MakeLogin(const db::Settings& settings, const Clock& clock, const std::string& name,
                        const std::string& password_file) {
  RequireName(name);
  const db::Login login = {.name = name,
                           .password = ReadPassword(password_file),
                           .settings = {{"default_transaction_read_only", "on"},
                                        {"statement_timeout", "60s"},
                                        {"idle_in_transaction_session_timeout", "60s"}}};
  return db::MakeLogin(settings, clock, login);
}

}  // namespace comanda::office
