#pragma once

// The table of routes: one row per endpoint. A row holds everything that must be checked before its
// handler runs, so that no handler can forget it, and what the steps of a request (http/steps.h)
// must know about its room. The rooms own the rows, which are constants.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "auth/scopes.h"
#include "db/session.h"
#include "db/settings.h"
#include "http/response.h"
#include "wire/request.h"

namespace comanda::http {

class Context;
struct Site;

using wire::Method;

enum class Access : uint8_t {
  kOpen,   // needs no key: service endpoints
  kKey,    // needs a key with the row's scope
  kLocal,  // for the command line alone; others get 404
};

enum class Replay : uint8_t {
  kNone,      // Idempotency-Key is ignored: reads, and writes that are idempotent by themselves
  kHonoured,  // the answer is recorded where a key was sent
  kRequired,  // a key must be sent; the room keeps it with what it made (Route::find_first)
};

// Of a room that keeps an Idempotency-Key with what it made (POST /v1/orders): the answer to the
// request that made it, or to one that reads it now; empty where the key is new. Throws Refusal
// idempotency_key_reused where that request had another fingerprint.
using FindFirst = std::optional<Response> (*)(Site& site, db::Session& session,
                                              db::CompanyId company, std::string_view key,
                                              std::string_view fingerprint);

// How much space must be left on the disk (db/disk_space.h); otherwise the route answers
// 503.
enum class Space : uint8_t {
  kNone,    // none: reads, orders and payments
  kCommon,  // refused in db::Fullness::kOrdersOnly
  kPlenty,  // refused from db::Fullness::kTight on: reports and imports
};

inline constexpr size_t kBodyMax = 1024 * 1024;

// Ids that a room shows to people, and takes in paths instead of UUIDs, as the first parameter.
struct PublicIds {
  // Whether the text has the form of such an id.
  bool (*is_one)(std::string_view text);
  // The UUID of the record; empty where there is none.
  std::optional<std::string> (*find_uuid)(db::Session& session, db::CompanyId company,
                                          std::string_view id);
};

// A method and a path that no route has.
struct Mistake {
  Method method;
  std::string_view path;  // percent-encoded as sent
  bool path_exists;       // with another method
};

// The handler runs on the request's thread, with a Context that has passed all checks of the row.
// It returns the answer, or throws Refusal for what the client did wrong; a Fault becomes 500 or
// 503, any other exception 500.
struct Route {
  Method method;
  std::string_view pattern;  // "/v1/orders/{id}/combos/{comboId}"
  Access access;
  std::optional<auth::Scope> scope;  // of kKey; empty: any key will do
  Replay replay;
  bool reads_body;  // POST, PUT, PATCH with a JSON body; a DELETE's body is ignored
  Response (*handler)(Context&);
  size_t body_max = kBodyMax;
  bool body_optional = false;  // an empty body is taken for {}
  Space space = method == Method::kGet ? Space::kNone : Space::kCommon;
  // It is about one company: where there are several, the command line must name one.
  bool of_one_company = true;
  db::Readers readers = db::Readers::kShared;  // the database connections that its reads use
  const PublicIds* public_ids = nullptr;  // of the first parameter; null: it is a UUID or a word
  FindFirst find_first = nullptr;         // of Replay::kRequired
  bool shows_orders = false;              // a caller that is answered sees them (http/lookers.h)
  // Says what to do instead of a mistake that clients make with paths like this one; empty for all
  // other mistakes. Begins with a blank. Asked for every mistake, not only for those at this row.
  std::string_view (*hint)(const Mistake& mistake) = nullptr;
};

// The rows of a table, with one field set in all of them: a room whose rows share a value says it
// once, around its table.
template <size_t N>
constexpr std::array<Route, N> With(Space space, std::array<Route, N> rows) {
  for (Route& row : rows) row.space = space;
  return rows;
}

template <size_t N>
constexpr std::array<Route, N> With(db::Readers readers, std::array<Route, N> rows) {
  for (Route& row : rows) row.readers = readers;
  return rows;
}

template <size_t N>
constexpr std::array<Route, N> With(const PublicIds& public_ids, std::array<Route, N> rows) {
  for (Route& row : rows) row.public_ids = &public_ids;
  return rows;
}

// Of a GET by which somebody sees the company's orders.
constexpr Route ShowingOrders(Route route) {
  route.shows_orders = true;
  return route;
}

template <size_t N>
constexpr std::array<Route, N> With(std::string_view (*hint)(const Mistake&),
                                    std::array<Route, N> rows) {
  for (Route& row : rows) row.hint = hint;
  return rows;
}

// Rows of the usual kinds: for a key with the scope, where writes honour an Idempotency-Key and
// take a JSON body of up to kBodyMax. A room sets what differs in the row that these return.
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
// A row for the command line alone. A POST takes a JSON body.
constexpr Route Local(Method method, std::string_view pattern, Response (*handler)(Context&)) {
  return {method, pattern, Access::kLocal, std::nullopt, Replay::kNone, method == Method::kPost,
          handler};
}
// A service endpoint, which anyone may ask.
constexpr Route Open(Method method, std::string_view pattern, Response (*handler)(Context&)) {
  return {method, pattern, Access::kOpen, std::nullopt, Replay::kNone, false, handler};
}

}  // namespace comanda::http
