#include <array>
#include <charconv>

#include "auth/key.h"
#include "base/time/clock.h"
#include "base/id.h"
#include "selftest/check.h"

namespace comanda::selftest {
namespace {

constexpr int64_t kDayMs = 86'400'000;
constexpr int64_t kCertificateDaysMin = 14;
constexpr std::string_view kPlainHttp = "this address is plain http";

void AcceptsTheKey(Probe& probe, Finding& finding) {
  const Reply& reply = probe.first;
  finding.True(reply.status() != 401 && reply.Code() != "address_not_allowed", "status",
               "an answer other than 401", reply.Described());
}

void SpeaksTls(Probe& probe, Finding& finding) {
  if (!probe.secure()) return finding.NotChecked(std::string(kPlainHttp));
  const std::string& version = probe.first.answer().security.tls_version;
  if (version.empty()) return finding.NotChecked("the version could not be read");
  finding.Note(version);
  finding.True(version == "TLSv1.2" || version == "TLSv1.3", "TLS version", "1.2 or 1.3", version);
}

void HasAFreshCertificate(Probe& probe, Finding& finding) {
  if (!probe.secure()) return finding.NotChecked(std::string(kPlainHttp));
  const auto& certificate = probe.first.answer().security.certificate;
  if (!certificate) return finding.NotChecked("the certificate could not be read");
  const int64_t days = (certificate->validity.not_after - SystemClock().Now()) / kDayMs;
  finding.Note(std::to_string(days) + " days left");
  finding.True(days >= kCertificateDaysMin, "days left",
               std::to_string(kCertificateDaysMin) + " or more", std::to_string(days));
}

void NamesItsVersion(Probe& probe, Finding& finding) {
  finding.Same("header API-Version", "v0", probe.first.HeaderOr("API-Version", "none"));
  const Reply refused = probe.Get("/v1/selftest-no-such-path");
  finding.Same("header API-Version of an error", "v0", refused.HeaderOr("API-Version", "none"));
}

void NamesEachRequest(Probe& probe, Finding& finding) {
  finding.HasHeader(probe.first, "X-Request-Id");
  const std::string own = NewId(SystemClock().Now());
  const Reply echoed = probe.Get("/v1/company", {"X-Request-Id: " + own});
  finding.Same("header X-Request-Id where one was sent", own,
               echoed.HeaderOr("X-Request-Id", "none"));
}

std::optional<int64_t> WholeNumber(const Reply& reply, std::string_view header) {
  const auto text = reply.Header(header);
  int64_t number = 0;
  if (!text) return std::nullopt;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size() || number < 0) return std::nullopt;
  return number;
}

void ShowsItsRateLimit(Probe& probe, Finding& finding) {
  constexpr std::array<std::string_view, 3> kHeaders = {"RateLimit-Limit", "RateLimit-Remaining",
                                                        "RateLimit-Reset"};
  size_t found = 0;
  for (const std::string_view header : kHeaders) found += probe.first.Header(header) ? 1 : 0;
  if (found == 0) {
    return finding.NotChecked(
        "there are no RateLimit headers; that is right only for a key of the tier unlimited");
  }
  for (const std::string_view header : kHeaders) {
    finding.True(WholeNumber(probe.first, header).has_value(), "header " + std::string(header),
                 "a whole number", probe.first.HeaderOr(header, "none"));
  }
  const auto limit = WholeNumber(probe.first, kHeaders[0]);
  const auto remaining = WholeNumber(probe.first, kHeaders[1]);
  if (!limit || !remaining) return;
  finding.Note(std::to_string(*limit) + " requests a minute");
  finding.True(*remaining <= *limit, "RateLimit-Remaining", "at most " + std::to_string(*limit),
               std::to_string(*remaining));
}

void AcceptsTheOtherHeader(Probe& probe, Finding& finding) {
  const std::string key = "X-API-Key: " + probe.settings().key;
  const Reply other = probe.Send({.path = "/v1/company", .headers = {key}, .with_key = false});
  finding.Same("status with X-API-Key", std::to_string(probe.first.status()),
               std::to_string(other.status()));
  const Reply both = probe.Get("/v1/company", {key});
  finding.Same("status with both headers", std::to_string(probe.first.status()),
               std::to_string(both.status()));
}

void RefusesTwoKeys(Probe& probe, Finding& finding) {
  const Reply reply = probe.Get("/v1/company", {"X-API-Key: selftest"});
  finding.Problem(reply, 400, "conflicting_credentials");
}

void RefusesNoKey(Probe& probe, Finding& finding) {
  const Reply reply = probe.Send({.path = "/v1/company", .with_key = false});
  finding.Problem(reply, 401, "unauthorized");
  const std::string challenge = reply.HeaderOr("WWW-Authenticate", "none");
  finding.True(challenge.starts_with("Bearer"), "header WWW-Authenticate", "Bearer",
               Shown(challenge));
}

void RefusesAMistypedKey(Probe& probe, Finding& finding) {
  std::string key = probe.settings().key;
  key.back() = key.back() == '0' ? '1' : '0';
  const Reply reply = probe.Send({.path = "/v1/company",
                                  .headers = {"Authorization: Bearer " + key},
                                  .with_key = false,
                                  .patient = false});
  if (reply.status() == 429) {
    return finding.NotChecked("too many unknown keys came from this machine in the last minute");
  }
  finding.Problem(reply, 401, "unauthorized");
}

void RefusesAKeyOfTheOtherSide(Probe& probe, Finding& finding) {
  const std::string& key = probe.settings().key;
  const auto mode = auth::ModeOfKey(key);
  if (!mode) return finding.NotChecked("this key has not the form of the contract");
  const auth::Mode other = *mode == auth::Mode::kLive ? auth::Mode::kTest : auth::Mode::kLive;
  const std::string_view prefix = std::string_view(key).substr(0, key.find('_'));
  const std::string foreign = auth::CompleteKey(prefix, other, std::string(32, '0'));
  const Reply reply = probe.Send(
      {.path = "/v1/company", .headers = {"Authorization: Bearer " + foreign}, .with_key = false});
  finding.Problem(reply, 401, "wrong_environment");
}

void NamesTheMissingScope(Probe& probe, Finding& finding) {
  struct Closed {
    auth::Scope scope;
    std::string_view path;
  };
  constexpr std::array kClosed = {
      Closed{auth::Scope::kClientsRead, "/v1/clients?per_page=1"},
      Closed{auth::Scope::kUsersRead, "/v1/users?per_page=1"},
      Closed{auth::Scope::kStoresRead, "/v1/stores/status"},
      Closed{auth::Scope::kPaymentMethodsRead, "/v1/company/payment-methods"},
      Closed{auth::Scope::kCompaniesRead, "/v1/company"},
      Closed{auth::Scope::kMenuRead, "/v1/menu?per_page=1"},
      Closed{auth::Scope::kOrdersRead, "/v1/orders?per_page=1"},
  };
  for (const Closed& closed : kClosed) {
    if (probe.May(closed.scope)) continue;
    const Reply reply = probe.Get(std::string(closed.path));
    finding.Problem(reply, 403, "insufficient_scope");
    const std::string_view name = auth::Name(closed.scope);
    finding.True(reply.Text("detail").find(name) != std::string::npos, "detail",
                 "names " + std::string(name), Shown(reply.Text("detail")));
    return;
  }
  finding.NotChecked("the key may read everything; a key with fewer scopes shows it");
}

void SaysHowItIs(Probe& probe, Finding& finding) {
  const Reply health = probe.Send({.path = "/healthz", .with_key = false});
  if (health.status() == 404)
    return finding.NotChecked("this server has no /healthz; a cloud need not");
  finding.Status(health, 200, "/healthz");
  finding.Status(probe.Send({.path = "/readyz", .with_key = false}), 200, "/readyz");
}

constexpr std::array kChecks = {
    Check{"The server accepts the key",
          "3",
          "Authorization: Bearer KEY or X-API-Key: KEY",
          Stage::kServer,
          {},
          AcceptsTheKey},
    Check{"The connection is TLS 1.2 or 1.3",
          "1",
          "All requests use HTTPS (specification)",
          Stage::kServer,
          {},
          SpeaksTls},
    Check{"The certificate is trusted and does not end soon",
          "1",
          "All requests use HTTPS (specification)",
          Stage::kServer,
          {},
          HasAFreshCertificate},
    Check{"Every answer names the version of the API",
          "1",
          "every answer carries API-Version: v0",
          Stage::kServer,
          {},
          NamesItsVersion},
    Check{"Every answer carries a request id, the client's own where it sent one",
          "1",
          "X-Request-Id (echoed if the client sent a valid one)",
          Stage::kServer,
          {},
          NamesEachRequest},
    Check{"The rate limit is shown on every answer",
          "4",
          "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset on every authenticated answer, "
          "none for unlimited",
          Stage::kKey,
          {},
          ShowsItsRateLimit},
    Check{"X-API-Key opens as well as Authorization",
          "3",
          "Both present and equal: fine",
          Stage::kKey,
          {},
          AcceptsTheOtherHeader},
    Check{"Two different keys in one request are refused",
          "3",
          "different: 400 conflicting_credentials",
          Stage::kServer,
          {},
          RefusesTwoKeys,
          Promise::kContract},
    Check{"A request without a key is refused",
          "2",
          "401 unauthorized; always with WWW-Authenticate: Bearer",
          Stage::kServer,
          {},
          RefusesNoKey},
    Check{"A mistyped key is refused",
          "2",
          "401 unauthorized",
          Stage::kServer,
          {},
          RefusesAMistypedKey},
    Check{"A sandbox key is refused at the live address, and the reverse",
          "3",
          "A live key on the sandbox address, or the reverse: 401 wrong_environment",
          Stage::kServer,
          {},
          RefusesAKeyOfTheOtherSide,
          Promise::kContract},
    Check{"A key without the scope is told which one it lacks",
          "2",
          "403 insufficient_scope (detail names the scope)",
          Stage::kKey,
          {},
          NamesTheMissingScope},
    Check{"The box says that it is well",
          "16",
          "GET /healthz (process), /readyz (database, disk, clock, sync), no key",
          Stage::kServer,
          {},
          SaysHowItIs,
          Promise::kContract},
};

}  // namespace

std::span<const Check> LineChecks() { return kChecks; }

}  // namespace comanda::selftest
