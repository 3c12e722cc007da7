#include "delivery/json.h"

#include "json/writer.h"

namespace comanda::delivery {

std::string Render(const StatusRow& row) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("provider_name").Text(row.provider_name);
  out.Key("store_status").Text(Name(row.status));
  out.Key("reason");
  if (row.reason == Reason::kNone) {
    out.Null();
  } else {
    out.Text(Name(row.reason));
  }
  out.Key("until").Instant(row.until);
  out.Key("checked_at").Instant(row.checked_at);
  out.EndObject();
  return text;
}

}  // namespace comanda::delivery
