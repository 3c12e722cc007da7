#include "cloud/link/linking.h"

#include <chrono>
#include <thread>
#include <utility>

#include "base/concat.h"
#include "base/file.h"
#include "base/id.h"
#include "base/problem.h"
#include "base/text.h"
#include "base/time/zone.h"
#include "base/time/zone_names.h"
#include "cloud/link/features.h"
#include "cloud/link/key_file.h"
#include "cloud/link/line.h"
#include "cloud/menu/menu_push.h"
#include "cloud/orders/went_back.h"
#include "cloud/readings.h"
#include "company/companies.h"
#include "company/import.h"
#include "events/log.h"
#include "json/writer.h"

namespace comanda::cloud {
namespace {

constexpr int64_t kPaceWaitMsMax = 10'000;
// A line that fails now and then does not end the linking.
constexpr int kAttempts = 4;
constexpr auto kBetweenAttempts = std::chrono::milliseconds(500);

[[noreturn]] void Refuse(std::string detail) {
  throw Refusal(Problem::kInvalidParameter, std::move(detail));
}

// Asks at the pace, and refuses where the cloud gives no usable answer.
class DirectLine final : public Line {
 public:
  DirectLine(Client& client, const Clock& clock, const std::stop_token& stop)
      : client_(client), clock_(clock), stop_(stop) {}

  Reply Ask(const Request& request) override {
    const int64_t wait_ms = client_.pace().DueInMs(clock_.MonotonicMs());
    if (wait_ms > kPaceWaitMsMax) {
      Refuse(Concat({"The cloud asks for a pause of ", wait_ms / 1'000,
                     " s: its rate limit is used up. Try again then."}));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    Reply reply = client_.Send(request, stop_);
    for (int attempt = 1; reply.verdict == Verdict::kLater && attempt < kAttempts; ++attempt) {
      std::this_thread::sleep_for(kBetweenAttempts);
      reply = client_.Send(request, stop_);
    }
    if (reply.verdict == Verdict::kKeyRefused) {
      Refuse(Concat({"The cloud does not accept the key: ", reply.trouble}));
    }
    if (reply.verdict == Verdict::kLater) {
      const bool is_untrusted = reply.reachability == Reachability::kCertificate;
      Refuse(Concat({"The cloud gives no usable answer to ", request.method, " ", request.path,
                     ": ", reply.trouble,
                     is_untrusted ? ". Where it has an authority of its own, name its file with "
                                    "--ca-file FILE."
                                  : ""}));
    }
    return reply;
  }

 private:
  Client& client_;
  const Clock& clock_;
  const std::stop_token& stop_;
};

// What the cloud tells of its company, by its record or that of an order.
struct CloudCompany {
  std::string id, name, currency, timezone, country_code, language;
};

std::string FirstText(const Reply& first, std::string_view path, const Reply& second,
                      std::string_view other_path) {
  const std::string text = first.answer.Text(path);
  return text.empty() ? second.answer.Text(other_path) : text;
}

CloudCompany ReadCompany(Line& line, const LinkOrder& order) {
  const Reply company = line.Ask({.path = "/v1/company"});
  const Reply orders = line.Ask({.path = "/v1/orders?per_page=1"});
  CloudCompany found;
  found.name = company.answer.Text("data.name");
  found.id = FirstText(company, "data.id", orders, "data.0.company_id");
  // The specification names no id of a company.
  if (found.id.empty()) found.id = "name:" + found.name;
  found.currency = FirstText(company, "data.currency", orders, "data.0.currency");
  found.timezone = FirstText(company, "data.timezone", orders, "data.0.timezone");
  found.country_code = FirstText(company, "data.country_code", orders, "data.0.country_code");
  if (found.country_code.empty())
    found.country_code = company.answer.Text("data.location.country_code");
  found.language = company.answer.Text("data.language");
  if (found.timezone.empty()) found.timezone = order.timezone.value_or("");
  if (found.country_code.empty()) found.country_code = order.country_code.value_or("");
  return found;
}

void RequireZoneAndCountry(const CloudCompany& there) {
  if (there.timezone.empty() || there.country_code.empty()) {
    Refuse(
        "The cloud's company does not tell its time zone and country, and has no order that does: "
        "name them with --timezone America/Lima --country PE.");
  }
}

void RequireSameKind(const company::Company& here, const CloudCompany& there) {
  if (there.currency != here.currency) {
    Refuse(Concat({"The cloud's company ", there.name, " has the currency ", there.currency, ", ",
                   here.name, " here has ", here.currency,
                   ": it is another business, and amounts could not be compared."}));
  }
  if (CanonicalZoneName(there.timezone) != CanonicalZoneName(here.timezone)) {
    Refuse(Concat({"The cloud's company ", there.name, " has the time zone ", there.timezone, ", ",
                   here.name, " here has ", here.timezone, ": their business days would differ."}));
  }
}

// A company without any rows, by the rules for import files: they are read once it is linked.
void CreateCompany(db::Tx& tx, const CloudCompany& there, const db::Stamp& stamp) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  if (const auto id = ParseId(there.id)) out.Key("id").Text(*id);
  out.Key("name").Text(there.name);
  out.Key("country_code").Text(there.country_code);
  out.Key("timezone").Text(there.timezone);
  out.Key("currency").Text(there.currency);
  if (!there.language.empty()) out.Key("language").Text(there.language);
  out.EndObject();
  const json::Document document = json::Document::Parse(text);
  json::Errors errors;
  json::ObjectReader row(document.root(), "company", errors, json::UnknownFields::kRefused);
  const company::Draft draft = company::ReadDraft(row, {});
  errors.ThrowIfAny();
  company::Import(tx, draft, stamp);
}

// The restaurant that is meant; nothing where there is none at all.
std::optional<company::Company> FindCompany(db::Session& session, const LinkOrder& order) {
  if (order.company_uuid) {
    auto named = company::FindByUuid(session, *order.company_uuid);
    if (!named) Refuse(Concat({"There is no restaurant ", *order.company_uuid, " here."}));
    return named;
  }
  std::vector<company::Company> all = company::All(session);
  if (all.size() > 1)
    Refuse("There are several restaurants here: say which one with --company ID.");
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}

void RequireNoOtherLink(db::Session& session, const std::optional<company::Company>& here) {
  const std::optional<Linked> linked = FindLinked(session);
  if (!linked || (here && linked->company == here->company_id)) return;
  Refuse(
      "Another restaurant of this box is linked, and a box has one link: `comanda cloud unlink` "
      "ends it.");
}

UtcMs SinceOf(const std::string& text, const company::Company& company) {
  const auto day = ParseDay(text);
  if (!day) Refuse(Concat({"--since is a date like 2026-11-25, not '", text, "'"}));
  return company::FindZone(company).ToInstant(*day, 0);
}

void RequireScopes(Line& line) {
  const std::vector<std::string> missing = FindMissingScopes(line);
  if (missing.empty()) return;
  Refuse(Concat({"The key lacks scopes that the sync needs: ", JoinedByCommas(missing),
                 ". Grant them in the cloud, and link again."}));
}

// Stores the link. The journal of a link with the same company of the cloud goes on; that of
// another company is deleted.
LinkResult Store(const LinkingSettings& settings, const company::Company& company,
                 const CloudCompany& there, Link link) {
  return settings.database.Write([&](db::Tx& tx, const db::Stamp& stamp) {
    LinkResult result{.company = company.company_id, .link = link};
    const std::optional<Link> former = FindLink(tx, company.company_id);
    result.goes_on = former && former->cloud_company_id == there.id;
    if (former && !result.goes_on) Forget(tx, company.company_id);
    result.link.linked_at = stamp.now;
    if (result.goes_on) {
      result.link.planned_seq = former->planned_seq;
      result.link.scanned_id = former->scanned_id;
      result.link.lost_from = former->lost_from;
      result.link.lost_until = former->lost_until;
      result.link.features.makers = former->features.makers;
      // The cursor that would tell it ends with the former link.
      if (result.link.features.has_events) {
        NoteMayHaveGoneBack(result.link.progress, CountSent(tx, company.company_id, stamp.now),
                            stamp.now);
      }
      if (!result.link.since) result.link.since = former->since;
      // Older orders than before may be wanted now.
      if (result.link.since != former->since) result.link.scanned_id = "";
    } else {
      result.link.planned_seq = events::ExtentOf(tx, company.company_id).last;
      result.link.scanned_id = "";
    }
    if (!result.goes_on) NoteMenu(tx, company.company_id);
    PutLink(tx, company.company_id, result.link);
    return result;
  });
}

}  // namespace

Target TargetOf(const config::Options& options, const std::string& url, const std::string& ca_file,
                const std::string& key) {
  const std::string& authorities = options.cloud_ca_file.empty() ? ca_file : options.cloud_ca_file;
  const auto path = authorities.empty() ? net::FindSystemAuthorities() : std::optional(authorities);
  const auto pem = path ? ReadFile(*path) : std::nullopt;
  if (!pem) {
    throw Refusal(Problem::kInvalidParameter,
                  Concat({"there are no authorities in ", path.value_or("this system"),
                          ": name a file with --ca-file"}));
  }
  return {.url = options.cloud_url.empty() ? url : options.cloud_url,
          .key = key,
          .authorities = std::make_shared<const crypto::Authorities>(*pem)};
}

LinkResult MakeLink(const LinkingSettings& settings, const LinkOrder& order,
                    const std::stop_token& stop) {
  auto here = settings.database.Read([&](db::Snapshot& snapshot) {
    auto found = FindCompany(snapshot, order);
    RequireNoOtherLink(snapshot, found);
    return found;
  });
  Client client(TargetOf(settings.options, order.url, order.ca_file, order.key), settings.network,
                settings.clock, settings.options.cloud_quota_share);
  DirectLine line(client, settings.clock, stop);
  RequireScopes(line);
  const CloudCompany there = ReadCompany(line, order);
  RequireZoneAndCountry(there);
  if (here) RequireSameKind(*here, there);
  Link link{.url = order.url, .ca_file = order.ca_file, .cloud_company_id = there.id};
  link.features = FindFeatures(line, settings.clock.Now());

  const bool creates = !here;
  if (creates) {
    settings.database.Write(
        [&](db::Tx& tx, const db::Stamp& stamp) { CreateCompany(tx, there, stamp); });
    here = settings.database.Read(
        [&](db::Snapshot& snapshot) { return FindCompany(snapshot, order); });
  }
  if (order.since) link.since = SinceOf(*order.since, *here);
  WriteKey(settings.options.data_directory, order.key);
  LinkResult result = Store(settings, *here, there, std::move(link));
  result.was_created = creates;
  return result;
}

}  // namespace comanda::cloud
