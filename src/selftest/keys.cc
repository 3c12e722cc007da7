#include <array>

#include "selftest/check.h"

namespace comanda::selftest {
namespace {

using auth::Scope;

constexpr std::string_view kKeys = "/auth/api-keys";

std::string PathOf(const Probe& probe, std::string_view below = "") {
  return std::string(kKeys) + "/" + probe.made_key.id + std::string(below);
}

// A scope that the key under test has and may grant.
std::string Grantable(const Probe& probe) {
  for (const auth::ScopeRow& row : auth::kScopes) {
    if (probe.May(row.scope) && !auth::IsLocalOnly(row.scope)) return std::string(row.name);
  }
  return {};
}

Reply AskWith(Probe& probe, const std::string& key) {
  return probe.Send({.path = std::string(kKeys) + "?per_page=1",
                     .headers = {"Authorization: Bearer " + key},
                     .with_key = false});
}

bool HasKey(const Probe& probe, Finding& finding) {
  if (!probe.made_key.id.empty()) return true;
  finding.NotChecked("there is no key to do it with");
  return false;
}

void MakesAKey(Probe& probe, Finding& finding) {
  const std::string scope = Grantable(probe);
  if (scope.empty()) return finding.NotChecked("the key has no scope that it could grant");
  const Reply made = probe.Send({.method = "POST",
                                 .path = std::string(kKeys),
                                 .body = Filled(R"({"name":"SELFTEST","scopes":["$"]})", {scope})});
  if (!finding.Status(made, 201)) return;
  probe.made_key = {made.Text("data.id"), made.Text("data.key")};
  finding.Set(made, "data.key");
  finding.Text(made, "data.name", "SELFTEST");
  finding.Text(made, "data.scopes.0", scope);
  finding.Same("header Location", PathOf(probe), made.HeaderOr("Location", "none"));
  const Reply shown = probe.Get(PathOf(probe));
  if (!finding.Status(shown, 200)) return;
  finding.True(!shown.Find("data.key"), "the key when it is read again", "not shown", "shown");
}

void OpensWhatItShould(Probe& probe, Finding& finding) {
  if (!HasKey(probe, finding)) return;
  finding.Problem(AskWith(probe, probe.made_key.text), 403, "insufficient_scope",
                  "the new key, managing keys");
}

void GrantsNoManagement(Probe& probe, Finding& finding) {
  finding.Problem(probe.Send({.method = "POST",
                              .path = std::string(kKeys),
                              .body = R"({"name":"SELFTEST","scopes":["api-keys:write"]})"}),
                  403, "insufficient_scope");
}

void ChangesAKey(Probe& probe, Finding& finding) {
  if (!HasKey(probe, finding)) return;
  const Reply changed = probe.Send(
      {.method = "PATCH", .path = PathOf(probe), .body = R"({"name":"SELFTEST changed"})"});
  if (!finding.Status(changed, 200)) return;
  finding.Text(changed, "data.name", "SELFTEST changed");
}

void RotatesAKey(Probe& probe, Finding& finding) {
  if (!HasKey(probe, finding)) return;
  const Reply rotated =
      probe.Send({.method = "POST", .path = PathOf(probe, "/rotate"), .body = "{}"});
  if (!finding.Status(rotated, 200)) return;
  finding.Problem(AskWith(probe, probe.made_key.text), 401, "key_revoked", "the old key");
  probe.made_key = {rotated.Text("data.id"), rotated.Text("data.key")};
  finding.Problem(AskWith(probe, probe.made_key.text), 403, "insufficient_scope", "the new key");
}

void RevokesAKey(Probe& probe, Finding& finding) {
  if (!HasKey(probe, finding)) return;
  const Reply revoked = probe.Send({.method = "DELETE", .path = PathOf(probe), .body = ""});
  if (!finding.Status(revoked, 200)) return;
  finding.Set(revoked, "data.revoked_at");
  finding.Problem(AskWith(probe, probe.made_key.text), 401, "key_revoked", "the next request");
  const Reply again = probe.Send({.method = "DELETE", .path = PathOf(probe), .body = ""});
  finding.Text(again, "data.revoked_at", revoked.Text("data.revoked_at"));
}

constexpr auth::ScopeSet kManaging = Needs(Scope::kApiKeysRead, Scope::kApiKeysWrite);

constexpr std::array kChecks = {
    Check{"A key is made and shown once", "3", "201 record + key; the key itself is shown once",
          Stage::kKey, kManaging, MakesAKey, Promise::kContract},
    Check{"A key opens what its scopes say and no more", "3", "403 insufficient_scope", Stage::kKey,
          kManaging, OpensWhatItShould, Promise::kContract},
    Check{"A key cannot grant the management of keys", "3",
          "api-keys:read and api-keys:write, which only the local command line can grant",
          Stage::kKey, kManaging, GrantsNoManagement, Promise::kContract},
    Check{"A key is changed", "3", "PATCH: name, scopes, tier, expires_at, allowed_cidrs",
          Stage::kKey, kManaging, ChangesAKey, Promise::kContract},
    Check{"A key is rotated", "19", "Rotation answers 200; the old key is key_revoked", Stage::kKey,
          kManaging, RotatesAKey, Promise::kContract},
    Check{"A revocation acts on the next request", "3",
          "DELETE: row kept, revoked_at set; a revocation acts on the very next request",
          Stage::kKey, kManaging, RevokesAKey, Promise::kContract},
};

}  // namespace

std::span<const Check> KeyChecks() { return kChecks; }

}  // namespace comanda::selftest
