#include "base/text.h"
#include "doctor/checks.h"

namespace comanda::doctor {
namespace {

constexpr std::string_view kWhy = "Tills and displays cannot connect.";

// True if the text has the number as a whole word.
bool HasNumber(std::string_view text, const std::string& number) {
  for (size_t at = text.find(number); at != text.npos; at = text.find(number, at + 1)) {
    const bool begins = at == 0 || !IsAlphanumeric(text[at - 1]);
    const size_t end = at + number.size();
    if (begins && (end == text.size() || !IsAlphanumeric(text[end]))) return true;
  }
  return false;
}

// True if a rule speaks of the port, alone, in a list or in a range.
bool NamesPort(std::string_view rules, int port) {
  while (!rules.empty()) {
    const std::string_view line = TakePiece(rules, '\n');
    const size_t at = line.find("dport");
    if (at == line.npos) continue;
    if (HasNumber(line.substr(at), std::to_string(port))) return true;
    for (const std::string_view word : WordsOf(line.substr(at))) {
      const size_t dash = word.find_first_of("-:");
      if (dash == word.npos) continue;
      std::string_view last = word.substr(dash + 1);
      if (last.ends_with(',')) last.remove_suffix(1);
      const auto from = ParseNumber(word.substr(0, dash));
      const auto to = ParseNumber(last);
      if (from && to && *from <= port && port <= *to) return true;
    }
  }
  return false;
}

// True if a chain of incoming packets drops what no rule accepts.
bool DropsIncoming(std::string_view rules) {
  while (!rules.empty()) {
    const std::string_view line = TakePiece(rules, '\n');
    if (line.find("hook input") != line.npos && line.find("policy drop") != line.npos) return true;
  }
  return false;
}

}  // namespace

// Firewalls of Linux end in one table of rules, which nft prints, those of ufw, firewalld and
// iptables too. It is read as text: whether the port is named at all, not what each rule does.
Findings CheckFirewall(const Box& box) {
  const int port = PortOf(box.options.listen);
  const std::string number = std::to_string(port);
  const std::string ufw = box.machine.Read("/etc/ufw/ufw.conf").value_or("");
  if (ufw.find("ENABLED=yes") != std::string::npos) {
    const auto rules = box.machine.Read("/etc/ufw/user.rules");
    if (!rules) return {Well("The firewall ufw is on; its rules are for root to read.")};
    if (NamesPort(*rules, port)) return {Well("The firewall ufw names port " + number + ".")};
    return {Broken("The firewall ufw is on and does not name port " + number + ".", kWhy,
                   "ufw allow " + number + "/tcp")};
  }
  if (!box.is_root) return {Well("Not looked at: the rules are for root to read.")};
  const auto rules = box.machine.OutputFrom("nft", {"list", "ruleset"});
  if (!rules) return {Well("No firewall was found.")};
  if (!DropsIncoming(*rules)) return {Well("No firewall stops incoming connections.")};
  if (NamesPort(*rules, port)) return {Well("The firewall names port " + number + ".")};
  return {Warning(
      "The firewall drops connections that no rule accepts, and no rule names port " + number + ".",
      std::string(kWhy) + " This does not apply if a rule accepts everything from their network.",
      "nft list ruleset | grep -B3 -A20 'hook input'")};
}

}  // namespace comanda::doctor
