#include "kitchen/changes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/problem.h"
#include "events/feed.h"
#include "events/log.h"
#include "http/list.h"
#include "json/writer.h"
#include "kitchen/json.h"
#include "kitchen/store.h"

namespace comanda::kitchen {
namespace {

// How many events are looked at before the tickets that they tell of are read.
constexpr int64_t kEventsPerRead = 2'000;
// A page ends with the ticket that passes it.
constexpr size_t kBytesMax = 8 * 1024 * 1024;
constexpr std::string_view kEmptyHead = R"({"data":[],"next":")";
constexpr std::array<std::string_view, 2> kKinds = {"station_unwatched", "display_muted"};

void WriteAlerts(json::Writer& out, const Alerts& alerts) {
  out.Key("alerts").BeginArray();
  for (const Alert& alert : alerts.alerts) {
    out.BeginObject();
    out.Key("kind").Text(kKinds[static_cast<size_t>(alert.kind)]);
    out.Key("name").Text(alert.name);
    out.Key("since").Instant(alert.since);
    out.EndObject();
  }
  out.EndArray();
}

}  // namespace

std::string ReadChanges(db::Session& session, db::CompanyId company, const Follow& follow,
                        const Alerts& alerts) {
  const events::Extent extent = events::ExtentOf(session, company);
  int64_t position = events::StartOf(follow.after, extent);
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("data").BeginArray();
  for (bool is_empty = true; is_empty && position < extent.last;) {
    const int64_t last = std::min(extent.last, position + kEventsPerRead);
    const store::Changed changed =
        store::ChangedTickets(session, company, position, last, follow.per_page);
    position = changed.position;
    for (const Ticket& ticket : changed.tickets) {
      out.Raw(Render(ticket, Form::kStateIfClosed, follow.now));
      is_empty = false;
      if (body.size() < kBytesMax) continue;
      position = ticket.last_seq;
      break;
    }
  }
  out.EndArray();
  out.Key("next").Text(events::Encode({extent.epoch, position}));
  WriteAlerts(out, alerts);
  out.EndObject();
  return body;
}

std::string NoChanges(std::string_view next, const Alerts& alerts) {
  std::string body;
  json::Writer out(body);
  out.BeginObject().Key("data").BeginArray().EndArray();
  out.Key("next").Text(next);
  WriteAlerts(out, alerts);
  out.EndObject();
  return body;
}

bool IsWithoutTickets(std::string_view body) { return body.starts_with(kEmptyHead); }

std::string_view NextOfEmpty(std::string_view body) {
  body.remove_prefix(kEmptyHead.size());
  return body.substr(0, body.find('"'));
}

}  // namespace comanda::kitchen
