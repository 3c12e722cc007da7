#include <algorithm>

#include "base/counted.h"
#include "base/text.h"
#include "json/writer.h"
#include "selftest/selftest.h"

namespace comanda::selftest {
namespace {

constexpr size_t kResultWidth = 13;

std::string Padded(std::string_view text, size_t width) {
  std::string padded(text);
  padded.resize(std::max(padded.size(), width), ' ');
  return padded;
}

std::string AsText(const Remnant& remnant) {
  std::string text = "  ";
  if (remnant.kind != "order") text += std::string(remnant.kind) + " ";
  text += Visible(remnant.reference);
  if (!remnant.public_id.empty()) text += "  " + Visible(remnant.public_id);
  if (remnant.id.empty()) return text + "  no answer came to its creation: look whether it exists";
  text += "  " + Visible(remnant.id);
  return text + "  " + (remnant.status.empty() ? "in an unknown state" : Visible(remnant.status));
}

void WriteOrNull(json::Writer& out, std::string_view name, const std::string& value) {
  out.KeyOf(name);
  if (value.empty()) {
    out.Null();
  } else {
    out.Text(value);
  }
}

void Write(json::Writer& out, const CheckResult& outcome) {
  out.BeginObject();
  out.Key("subject").Text(outcome.subject);
  out.Key("name").Text(outcome.name);
  out.Key("section").Text(outcome.section);
  out.Key("contract").Text(outcome.words);
  std::string result(Name(outcome.result));
  std::ranges::replace(result, ' ', '_');
  out.Key("result").Text(result);
  WriteOrNull(out, "note", outcome.note);
  out.Key("differences").BeginArray();
  for (const Difference& difference : outcome.differences) {
    out.BeginObject();
    out.Key("what").Text(difference.what);
    out.Key("expected").Text(difference.expected);
    out.Key("got").Text(difference.got);
    out.EndObject();
  }
  out.EndArray().EndObject();
}

void Write(json::Writer& out, const Remnant& remnant) {
  out.BeginObject();
  out.Key("kind").Text(remnant.kind);
  out.Key("reference").Text(remnant.reference);
  WriteOrNull(out, "id", remnant.id);
  WriteOrNull(out, "public_id", remnant.public_id);
  WriteOrNull(out, "status", remnant.status);
  out.EndObject();
}

}  // namespace

std::string AsText(const CheckResult& outcome) {
  std::string out = "  " + Padded(Name(outcome.result), kResultWidth) + std::string(outcome.name);
  if (!outcome.note.empty()) out += ": " + Visible(outcome.note);
  out += '\n';
  const std::string indent(kResultWidth + 2, ' ');
  for (const Difference& difference : outcome.differences) {
    out += indent + Visible(difference.what) + ": expected " + Visible(difference.expected) +
           ", got " + Visible(difference.got) + "\n";
  }
  if (outcome.result == Verdict::kDiffers) {
    out += indent + "contract " + std::string(outcome.section) + ": " + std::string(outcome.words) +
           "\n";
  }
  return out;
}

std::string AsText(const Summary& summary) {
  const size_t differs = summary.Count(Verdict::kDiffers);
  std::string out = "\n" + std::to_string(summary.Count(Verdict::kOk)) + " ok, " +
                    std::to_string(differs) + (differs == 1 ? " differs, " : " differ, ") +
                    std::to_string(summary.Count(Verdict::kNotChecked)) + " not checked.\n";
  if (summary.yardstick == Yardstick::kSpecification) {
    out +=
        "The server serves no /v1/openapi.json, so it was judged by the specification; what a "
        "Comanda\nadds to that, it need not have: " +
        Counted(static_cast<int64_t>(summary.Count(Verdict::kNotServed)), "check is",
                "checks are") +
        " not served.\n";
  }
  if (!summary.endpoints_not_served.empty()) {
    out += "Endpoints of a Comanda that are not there:";
    for (const std::string& endpoint : summary.endpoints_not_served) out += "\n  " + endpoint;
    out += '\n';
  }
  if (summary.waited_s > 0) {
    out += "Waited " + Counted(summary.waited_s, "second", "seconds") +
           " for the server's rate limit.\n";
  }
  if (summary.remnants.empty()) return out + "Nothing was left behind.\n";
  out += "Left behind, because the API removes nothing (reference, public id, id, state):\n";
  for (const Remnant& remnant : summary.remnants) out += AsText(remnant) + "\n";
  return out;
}

std::string AsJson(const Settings& settings, const Summary& summary) {
  std::string text;
  json::Writer out(text);
  out.BeginObject();
  out.Key("url").Text(settings.url);
  out.Key("ok").Integer(static_cast<int64_t>(summary.Count(Verdict::kOk)));
  out.Key("differs").Integer(static_cast<int64_t>(summary.Count(Verdict::kDiffers)));
  out.Key("not_served").Integer(static_cast<int64_t>(summary.Count(Verdict::kNotServed)));
  out.Key("not_checked").Integer(static_cast<int64_t>(summary.Count(Verdict::kNotChecked)));
  out.Key("judged_by")
      .Text(summary.yardstick == Yardstick::kContract ? "contract" : "specification");
  out.Key("endpoints_not_served").BeginArray();
  for (const std::string& endpoint : summary.endpoints_not_served) out.Text(endpoint);
  out.EndArray();
  out.Key("waited_s").Integer(summary.waited_s);
  out.Key("checks").BeginArray();
  for (const CheckResult& outcome : summary.outcomes) Write(out, outcome);
  out.EndArray();
  out.Key("left_behind").BeginArray();
  for (const Remnant& remnant : summary.remnants) Write(out, remnant);
  out.EndArray().EndObject();
  return text + "\n";
}

}  // namespace comanda::selftest
