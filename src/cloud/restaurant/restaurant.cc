#include "cloud/restaurant/restaurant.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/log.h"
#include "base/problem.h"
#include "base/text.h"
#include "cloud/menu/menu_body.h"
#include "cloud/menu/menu_pull.h"
#include "cloud/link/path.h"
#include "cloud/readings.h"
#include "cloud/restaurant/restaurant_store.h"
#include "company/import_row.h"
#include "menu/catalogue.h"

namespace comanda::cloud {
namespace {

using aliases::Kind;
using json::Value;

constexpr int64_t kHourMs = 3'600'000;
constexpr int64_t kDayMs = 86'400'000;
// Of a list of people; of the others, which are short.
constexpr int kPagesMax = 1'000;
constexpr int kShortPagesMax = 50;

// The clients' last change that was read, by the clock of the cloud, where it was found to take
// filter[updated_since]; at 0 it does not.
constexpr std::string_view kClientsSince = "clients_since";
// The last whole menu: stock moves without a new entity tag.
constexpr std::string_view kStock = "stock";

const Reading& ReadingOf(std::string_view part) {
  return *std::ranges::find(kReadings, part, &Reading::part);
}

std::string EtagOf(const Visit& visit, std::string_view path) {
  const auto found = visit.etags.find(path);
  return found == visit.etags.end() ? "" : found->second;
}

// A page of a list.
struct Page {
  Reply reply;  // owns the rows
  std::vector<Value> rows;
  bool has_more = false;
};

bool HasMore(const net::Reply& answer) {
  const auto more = answer.Find("pagination.has_more");
  return more && more->kind() == json::Kind::kBoolean && more->boolean();
}

std::string PagePath(std::string_view path, int page, const Features& features) {
  const char separator = path.find('?') == path.npos ? '?' : '&';
  return Concat({path, separator, "page=", page, PerPage(features.per_page)});
}

std::string TroubleOf(const Reply& reply) {
  return reply.trouble.empty() ? "the answer has no such records" : reply.trouble;
}

// Nothing where the answer is no list.
std::optional<Page> PageOf(Reply reply) {
  const auto data = reply.answer.Find("data");
  if (reply.verdict != Verdict::kOk || !data || data->kind() != json::Kind::kArray) {
    return std::nullopt;
  }
  Page page{.reply = std::move(reply), .rows = {}, .has_more = false};
  for (const Value row : data->items()) {
    if (!company::ShownId(row).empty()) page.rows.push_back(row);
  }
  page.has_more = HasMore(page.reply.answer);
  return page;
}

// Adds the etag of an answer that is all of its list.
void KeepEtag(Visit& visit, std::string_view path, const Reply& reply) {
  visit.etags.clear();
  const auto etag = reply.answer.Header("ETag");
  if (etag && !etag->empty()) visit.etags.emplace(path, *etag);
}

UtcMs UpdatedAt(Value record) {
  return ParseInstant(Trimmed(net::TextAt(record, "updated_at"))).value_or(0);
}

// A reading that left records out has failed, and is made again as a whole.
std::string TroubleOf(const Omitted& omitted, Visit& visit) {
  if (omitted.count > 0) visit.etags.clear();
  return Describe(omitted);
}

// The categories of a page of the menu; nothing where it is none.
std::optional<std::vector<Value>> CategoriesOf(const Reply& reply) {
  if (reply.verdict != Verdict::kOk) return std::nullopt;
  const auto data = reply.answer.Find("data");
  // A cloud may show them as a list like any other.
  if (data && data->kind() == json::Kind::kArray) return data->items();
  const auto categories = reply.answer.Find("data.categories");
  if (!categories || categories->kind() != json::Kind::kArray) return std::nullopt;
  return categories->items();
}

std::string SinceFilter(UtcMs instant) {
  return Concat({"filter%5Bupdated_since%5D=", FormatInstant(instant)});
}

struct UnpairedKind {
  Kind kind;
  std::string_view name;
  std::string_view part;  // the reading that tells what the cloud has of it
};
constexpr std::array kUnpairedKinds = {
    UnpairedKind{Kind::kPaymentMethod, kPaymentMethodsPart, kPaymentMethodsPart},
    UnpairedKind{Kind::kTable, kTablesPart, kTablesPart},
    UnpairedKind{Kind::kCategory, "categories", kMenuPart},
    UnpairedKind{Kind::kProduct, "products", kMenuPart},
    UnpairedKind{Kind::kUser, kUsersPart, kUsersPart},
    UnpairedKind{Kind::kClient, kClientsPart, kClientsPart},
};

// What was never read whole may be in the cloud, and so may what the cloud does not list.
bool WasRead(const UnpairedKind& kind, const Link& link) {
  return VisitOf(link.progress, kind.part).at != 0;
}

}  // namespace

Restaurant::Restaurant(RestaurantSettings settings) : settings_(std::move(settings)) {}

int64_t Restaurant::DueInMs(const Linked& linked) const {
  const UtcMs now = settings_.clock.Now();
  int64_t due_ms = std::numeric_limits<int64_t>::max();
  for (const Reading& reading : kReadings) {
    if (!IsWanted(reading, linked.link)) continue;
    due_ms = std::min(due_ms, cloud::DueInMs(reading, linked.link.progress, now));
  }
  return due_ms;
}

bool Restaurant::HasReadAll(const Linked& linked) const {
  return std::ranges::all_of(kReadings, [&](const Reading& reading) {
    return !IsWanted(reading, linked.link) || linked.link.progress.contains(reading.part);
  });
}

void Restaurant::Read(const Linked& linked, Line& line) {
  Progress progress = linked.link.progress;
  const auto due = [&] {
    return std::ranges::find_if(kReadings, [&](const Reading& reading) {
      return IsWanted(reading, linked.link) &&
             cloud::DueInMs(reading, progress, settings_.clock.Now()) == 0;
    });
  };
  // A list of people is read page by page, and the menu in between when it becomes due.
  for (auto reading = due(); reading != kReadings.end(); reading = due()) {
    ReadPart(reading->part, linked, line, progress);
  }
}

void Restaurant::ReadPart(std::string_view part, const Linked& linked, Line& line,
                          Progress& progress) {
  if (part == kMenuPart) return ReadMenu(linked, line, progress);
  if (part == kUsersPart) return ReadPeoplePage(People::kUsers, linked, line, progress);
  if (part == kClientsPart) return ReadPeoplePage(People::kClients, linked, line, progress);
  Visit visit = VisitOf(progress, part);
  const std::string trouble =
      part == kCompanyPart ? ReadCompany(linked, line, visit) : ReadList(part, linked, line, visit);
  StoreNow(linked, progress, part, std::move(visit), trouble);
}

void Restaurant::StoreNow(const Linked& linked, Progress& progress, std::string_view part,
                          Visit visit, std::string trouble) {
  if (!trouble.empty() && visit.trouble != trouble) {
    log::Warning("a reading of the cloud failed", {{"what", part}, {"why", trouble}});
  } else if (trouble.empty() && !visit.trouble.empty()) {
    log::Notice("a reading of the cloud succeeds again", {{"what", part}});
  }
  NoteReading(visit, std::move(trouble), settings_.clock.Now());
  Store(linked, progress, part, std::move(visit));
}

void Restaurant::Store(const Linked& linked, Progress& progress, std::string_view part,
                       Visit visit) {
  settings_.database.Write(
      [&](db::Tx& tx, const db::Stamp&) { PutVisit(tx, linked.company, part, visit); });
  progress.insert_or_assign(std::string(part), std::move(visit));
}

std::string Restaurant::ReadCompany(const Linked& linked, Line& line, Visit& visit) {
  const std::string path(ReadingOf(kCompanyPart).path);
  const Reply reply = line.Ask({.path = path, .etag = EtagOf(visit, path)});
  if (reply.verdict == Verdict::kNotModified) return "";
  const auto record = reply.answer.Find("data");
  if (reply.verdict != Verdict::kOk || !record || record->kind() != json::Kind::kObject) {
    return TroubleOf(reply);
  }
  Omitted omitted;
  TakeCompany({settings_.database, linked.company, omitted}, *record);
  KeepEtag(visit, path, reply);
  return TroubleOf(omitted, visit);
}

std::string Restaurant::ReadList(std::string_view part, const Linked& linked, Line& line,
                                 Visit& visit) {
  std::vector<Page> pages;
  std::vector<Value> rows;
  std::set<std::string> seen;
  bool is_complete = false;
  while (!is_complete && pages.size() < kShortPagesMax) {
    const std::string path =
        PagePath(ReadingOf(part).path, static_cast<int>(pages.size()) + 1, linked.link.features);
    Reply reply = line.Ask({.path = path, .etag = pages.empty() ? EtagOf(visit, path) : ""});
    if (reply.verdict == Verdict::kNotModified) return "";
    std::string trouble = TroubleOf(reply);
    std::optional<Page> page = PageOf(std::move(reply));
    if (!page) return trouble;
    const size_t before = rows.size();
    for (const Value row : page->rows) {
      if (seen.insert(company::ShownId(row)).second) rows.push_back(row);
    }
    is_complete = !page->has_more;
    const bool is_new = rows.size() > before;
    visit.etags.clear();
    if (is_complete && pages.empty()) KeepEtag(visit, path, page->reply);
    pages.push_back(*std::move(page));
    if (!is_new) break;
  }
  Omitted omitted;
  const Importer importer{settings_.database, linked.company, omitted};
  if (part == kTablesPart) {
    TakeTables(importer, rows, is_complete);
  } else {
    TakePaymentMethods(importer, rows, is_complete);
  }
  return TroubleOf(omitted, visit);
}

void Restaurant::ReadMenu(const Linked& linked, Line& line, Progress& progress) {
  Omitted omitted;
  const Importer importer{settings_.database, linked.company, omitted};
  const std::string path(ReadingOf(kMenuPart).path);
  Visit visit = VisitOf(progress, kMenuPart);
  bool counts_stock = false, is_of_older_program = false;
  settings_.database.Read([&](db::Snapshot& snapshot) {
    counts_stock = store::CountsStock(snapshot, linked.company);
    is_of_older_program = store::HasHashOfAnotherForm(snapshot, linked.company, kFingerprintForm);
  });
  const UtcMs now = settings_.clock.Now();
  const UtcMs counted_at = VisitOf(progress, kStock).at;
  const bool is_stock_due = counts_stock && (now - counted_at >= kHourMs || counted_at > now);

  const bool went_back = IsMenuToCompare(progress);
  const bool is_as_new = is_stock_due || is_of_older_program || went_back;
  MenuPull pull(importer, went_back);
  bool has_more = true;
  bool is_new = true;
  int page = 0;
  while (has_more && is_new && page < kShortPagesMax) {
    const bool is_first = ++page == 1;
    const Reply reply = line.Ask({.path = is_first ? path : Concat({path, "?page=", page}),
                                  .etag = is_first && !is_as_new ? EtagOf(visit, path) : ""});
    const auto categories = CategoriesOf(reply);
    if (!categories) {
      const bool is_as_read = reply.verdict == Verdict::kNotModified;
      return StoreNow(linked, progress, kMenuPart, std::move(visit),
                      is_as_read ? "" : TroubleOf(reply));
    }
    has_more = HasMore(reply.answer);
    const bool is_whole = is_first && !has_more;
    is_new = pull.TakePage(*categories, is_whole);
    visit.etags.clear();
    if (is_whole) KeepEtag(visit, path, reply);
  }
  if (!has_more && page > 1) pull.HideMissing();
  if (!has_more) {
    pull.PushLost();
    progress.erase(std::string(kSentMenuPart));
  }
  if (!pull.SetStock(settings_.plan)) visit.etags.clear();
  if (is_of_older_program) {  // of products that were left out
    settings_.database.Write([&](db::Tx& tx, const db::Stamp&) {
      store::ForgetHashesOfAnotherForm(tx, linked.company, kFingerprintForm);
    });
  }
  menu::RenderStale(settings_.database);
  StoreNow(linked, progress, kStock, {}, "");
  std::string trouble = TroubleOf(omitted, visit);
  StoreNow(linked, progress, kMenuPart, std::move(visit), std::move(trouble));
}

void Restaurant::ReadPeoplePage(People people, const Linked& linked, Line& line,
                                Progress& progress) {
  const Reading& reading = ReadingOf(people == People::kUsers ? kUsersPart : kClientsPart);
  Visit visit = VisitOf(progress, reading.part);
  Walk& walk = walks_[people];
  const Importer importer{settings_.database, linked.company, walk.omitted};
  const UtcMs since =
      people == People::kClients && visit.at > 0 ? VisitOf(progress, kClientsSince).at : 0;
  const std::string list =
      since > 0 ? Concat({reading.path, "?", SinceFilter(since)}) : std::string(reading.path);
  const std::string path = PagePath(list, walk.page, linked.link.features);

  Reply reply = line.Ask({.path = path, .etag = walk.page == 1 ? EtagOf(visit, path) : ""});
  const Verdict verdict = reply.verdict;
  // A cloud that has begun to refuse the filter is asked for all clients from now on.
  if (verdict == Verdict::kRefused && since > 0) Store(linked, progress, kClientsSince, {});
  std::string trouble = verdict == Verdict::kNotModified ? "" : TroubleOf(reply);
  const std::optional<Page> page =
      verdict == Verdict::kNotModified ? std::nullopt : PageOf(std::move(reply));
  if (!page) {
    walks_.erase(people);
    return StoreNow(linked, progress, reading.part, std::move(visit), std::move(trouble));
  }
  std::vector<Value> rows;
  for (const Value row : page->rows) {
    walk.newest = std::max(walk.newest, UpdatedAt(row));
    if (walk.seen.insert(std::hash<std::string>()(company::ShownId(row))).second)
      rows.push_back(row);
  }
  if (people == People::kUsers) {
    TakeUsers(importer, rows);
  } else {
    TakeClients(importer, rows);
  }
  const bool goes_on = page->has_more && !rows.empty() && walk.page < kPagesMax;
  visit.etags.clear();
  if (!page->has_more && walk.page == 1) KeepEtag(visit, path, page->reply);
  if (goes_on) {
    ++walk.page;
    return;
  }
  const UtcMs newest = walk.newest;
  trouble = TroubleOf(walk.omitted, visit);
  if (people == People::kClients) FinishClients(linked, line, progress, newest);
  walks_.erase(people);
  StoreNow(linked, progress, reading.part, std::move(visit), std::move(trouble));
}

void Restaurant::FinishClients(const Linked& linked, Line& line, Progress& progress, UtcMs newest) {
  const auto store = [&](UtcMs at) {
    Store(linked, progress, kClientsSince, {.at = at, .etags = {}});
  };
  const bool is_known = progress.contains(kClientsSince);
  const UtcMs since = VisitOf(progress, kClientsSince).at;
  if (newest == 0 || (is_known && since == 0)) return;
  if (is_known) {
    if (newest > since) store(newest);
    return;
  }
  // A cloud that takes the filter shows no client that was changed after tomorrow; any other shows
  // all, or refuses.
  const UtcMs tomorrow = settings_.clock.Now() + kDayMs;
  const auto page =
      PageOf(line.Ask({.path = Concat({ReadingOf(kClientsPart).path, "?", SinceFilter(tomorrow),
                                       "&page=1&per_page=1"})}));
  store(page && page->rows.empty() ? newest : 0);
}

std::map<std::string, int64_t> CountUnpaired(db::Session& session, db::CompanyId company) {
  std::map<std::string, int64_t> counts;
  const auto link = FindLink(session, company);
  for (const UnpairedKind& row : kUnpairedKinds) {
    if (!link || !WasRead(row, *link)) continue;
    const auto count = static_cast<int64_t>(store::Unpaired(session, company, row.kind).size());
    if (count > 0) counts.emplace(row.name, count);
  }
  return counts;
}

std::multimap<std::string, std::string> ListUnpaired(db::Session& session, db::CompanyId company,
                                                     int limit) {
  std::multimap<std::string, std::string> named;
  const auto link = FindLink(session, company);
  for (const UnpairedKind& row : kUnpairedKinds) {
    if (!link || !WasRead(row, *link)) continue;
    for (store::UnpairedRow& unpaired : store::Unpaired(session, company, row.kind)) {
      if (std::cmp_greater_equal(named.size(), limit)) return named;
      named.emplace(row.name, std::move(unpaired.name));
    }
  }
  return named;
}

}  // namespace comanda::cloud
