#include "delivery/apps/queue.h"

#include "base/problem.h"
#include "net/reply.h"

namespace comanda::delivery {

std::string ValueOf(const Variables& account, const std::string& name) {
  const auto value = account.find(name);
  return value == account.end() ? "" : value->second;
}

std::optional<std::vector<AppEvent>> ReadQueue(const json::Value& answer, const ReadEvent& read) {
  std::optional<json::Value> list = answer;
  if (answer.kind() == json::Kind::kObject) list = answer.Find("events");
  if (!list || list->kind() != json::Kind::kArray) return std::nullopt;
  std::vector<AppEvent> events;
  for (const json::Value& item : list->items()) {
    if (item.kind() != json::Kind::kObject) return std::nullopt;
    const OrderReading reading(item, "", 0);
    try {
      AppEvent event = read(reading);
      if (event.external_id.empty()) event.news = News::kOther;
      event.raw = item.Canonical();
      events.push_back(std::move(event));
    } catch (const Refusal&) {
      return std::nullopt;  // an event without an id cannot be acknowledged
    }
  }
  return events;
}

std::vector<OrderCall> AcknowledgeQueue(const std::vector<AppEvent>& events, std::string path,
                                        size_t at_once, const WriteEvent& write) {
  std::vector<OrderCall> calls;
  for (size_t begin = 0; begin < events.size(); begin += at_once) {
    const size_t end = std::min(begin + at_once, events.size());
    OrderCall call{.method = "POST", .path = path};
    json::Writer out(call.json);
    out.BeginArray();
    for (size_t i = begin; i < end; ++i) {
      out.BeginObject();
      write(out, events[i]);
      out.EndObject();
    }
    out.EndArray();
    calls.push_back(std::move(call));
  }
  return calls;
}

}  // namespace comanda::delivery
