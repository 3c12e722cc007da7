#pragma once

// One row per endpoint. The row holds what must be true before the handler runs, so that no handler
// can forget it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "auth/scopes.h"
#include "db/settings.h"
#include "http/message.h"

namespace comanda::http {

class Context;

enum class Access : uint8_t {
  kOpen,   // no key: service endpoints
  kKey,    // a key with the row's scope
  kLocal,  // the command line alone (control socket)
};

enum class Replay : uint8_t {
  kNone,      // reads, and writes that need none
  kHonoured,  // Idempotency-Key is honoured
  kRequired,  // POST /v1/orders, which remembers the key itself, as the order's reference
};

// What must be left on the disk for it (db/disk_space.h).
enum class Space : uint8_t {
  kNone,    // served whatever there is: reads, orders and payments
  kCommon,  // not where only orders and payments are written
  kPlenty,  // the first to stop: reports and imports
};

inline constexpr size_t kBodyMax = 1024 * 1024;

struct Route {
  Method method;
  std::string_view pattern;  // "/v1/orders/{id}/combos/{comboId}"
  Access access;
  std::optional<auth::Scope> scope;  // kKey: needed
  Replay replay;
  bool reads_body;  // POST, PUT, PATCH with a JSON body; a DELETE's body is ignored
  Response (*handler)(Context&);
  size_t body_max = kBodyMax;
  bool body_optional = false;  // an empty body counts as {}
  Space space = method == Method::kGet ? Space::kNone : Space::kCommon;
  // What the command line asks of it is about one company; it must say which, where there are
  // several.
  bool of_one_company = true;
  db::Readers readers = db::Readers::kShared;  // which connections its reading may use
};

// The rows of a table with another need of space.
template <size_t N>
constexpr std::array<Route, N> With(Space space, std::array<Route, N> rows) {
  for (Route& row : rows) row.space = space;
  return rows;
}

// The rows of a table whose reading has connections kept for it: they must be quick.
template <size_t N>
constexpr std::array<Route, N> With(db::Readers readers, std::array<Route, N> rows) {
  for (Route& row : rows) row.readers = readers;
  return rows;
}

// Rows for the usual kinds.
constexpr Route Get(std::string_view pattern, auth::Scope scope, Response (*handler)(Context&)) {
  return {Method::kGet, pattern, Access::kKey, scope, Replay::kNone, false, handler};
}
constexpr Route Post(std::string_view pattern, auth::Scope scope, Response (*handler)(Context&)) {
  return {Method::kPost, pattern, Access::kKey, scope, Replay::kHonoured, true, handler};
}
constexpr Route Put(std::string_view pattern, auth::Scope scope, Response (*handler)(Context&)) {
  return {Method::kPut, pattern, Access::kKey, scope, Replay::kHonoured, true, handler};
}
constexpr Route Patch(std::string_view pattern, auth::Scope scope, Response (*handler)(Context&)) {
  return {Method::kPatch, pattern, Access::kKey, scope, Replay::kHonoured, true, handler};
}
constexpr Route Delete(std::string_view pattern, auth::Scope scope, Response (*handler)(Context&)) {
  return {Method::kDelete, pattern, Access::kKey, scope, Replay::kHonoured, false, handler};
}
// A POST whose body may be left out.
constexpr Route PostBodyOptional(std::string_view pattern, auth::Scope scope,
                                 Response (*handler)(Context&)) {
  Route route = Post(pattern, scope, handler);
  route.body_optional = true;
  return route;
}
constexpr Route Open(Method method, std::string_view pattern, Response (*handler)(Context&)) {
  return {method, pattern, Access::kOpen, std::nullopt, Replay::kNone, false, handler};
}

}  // namespace comanda::http
