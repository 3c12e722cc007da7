#include "doctor/box.h"

#include <cstdlib>
#include <string>

#include "base/problem.h"
#include "json/reader.h"

namespace comanda::doctor {

int PortOf(std::string_view listen) {
  const size_t colon = listen.rfind(':');
  if (colon == listen.npos) return 0;
  const auto port = ParseNumber(listen.substr(colon + 1));
  return port && *port > 0 && *port < 65536 ? static_cast<int>(*port) : 0;
}

std::optional<double> Metric(const Box& box, std::string_view name) {
  if (!box.server || !box.server->metrics) return std::nullopt;
  std::string_view text = *box.server->metrics;
  std::optional<double> sum;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.starts_with(name)) continue;
    const std::string_view rest = line.substr(name.size());
    if (!rest.starts_with('{') && !rest.starts_with(' ')) continue;
    const std::string number(rest.substr(rest.rfind(' ') + 1));
    char* end = nullptr;
    const double value = std::strtod(number.c_str(), &end);
    if (end != number.c_str()) sum = sum.value_or(0) + value;
  }
  return sum;
}

std::vector<Readiness> ReadinessOf(const Box& box) {
  std::vector<Readiness> all;
  if (!box.server || !box.server->readiness) return all;
  try {
    const json::Document document = json::Document::Parse(*box.server->readiness);
    if (document.root().kind() != json::Kind::kObject) return all;
    const auto checks = document.root().Find("checks");
    if (!checks || checks->kind() != json::Kind::kObject) return all;
    for (const auto& [name, value] : checks->members()) {
      if (value.kind() != json::Kind::kObject) continue;
      const auto ok = value.Find("ok");
      const auto state = value.Find("state");
      if (!ok || ok->kind() != json::Kind::kBoolean || !state ||
          state->kind() != json::Kind::kText) {
        continue;
      }
      all.push_back(
          {.name = std::string(name), .ok = ok->boolean(), .state = std::string(state->text())});
    }
  } catch (const Refusal&) {
    all.clear();
  }
  return all;
}

std::string StateOf(const Box& box, std::string_view name) {
  for (const Readiness& one : ReadinessOf(box)) {
    if (one.name == name) return one.state;
  }
  return "";
}

}  // namespace comanda::doctor
