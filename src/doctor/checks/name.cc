#include <poll.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/checks.h"
#include "net/local_names.h"
#include "ops/local_name.h"

namespace comanda::doctor {
namespace {

constexpr std::string_view kService = "/etc/avahi/services/comanda.service";
constexpr std::string_view kSocket = "/run/avahi-daemon/socket";

// The numbers between <port> and </port>.
std::vector<int64_t> PortsIn(std::string_view text) {
  constexpr std::string_view kBegin = "<port>";
  std::vector<int64_t> ports;
  while (true) {
    const size_t at = text.find(kBegin);
    if (at == text.npos) return ports;
    text.remove_prefix(at + kBegin.size());
    ports.push_back(ParseNumber(Trimmed(text.substr(0, text.find('<')))).value_or(0));
  }
}

std::optional<Finding> CheckServiceFile(const Box& box) {
  const auto text = box.machine.Read(kService);
  if (!text) {
    return Warning(std::string(kService) + " is missing.",
                   "The box is not announced: integrations that search for it do not find it.",
                   // dpkg does not bring a deleted file of /etc back, and apt cannot reinstall a
                   // package that came as a file.
                   "install -D -m 644 /usr/share/comanda/avahi.service " + std::string(kService));
  }
  const std::vector<int64_t> ports = PortsIn(*text);
  const int port = PortOf(box.options.listen);
  const bool is_right =
      !ports.empty() && std::ranges::all_of(ports, [&](int64_t one) { return one == port; });
  if (is_right) return std::nullopt;
  return Warning(std::string(kService) + " announces another port than " + std::to_string(port) +
                     ", on which the server listens.",
                 "Devices that search for the box try the wrong port.",
                 "sed -i 's|<port>[^<]*</port>|<port>" + std::to_string(port) + "</port>|' " +
                     std::string(kService));
}

// Not hostnamectl(1), which wants a bus.
std::string SetName(const std::string& label) {
  return "echo " + label + " >/etc/hostname     # or another name\nhostname -F /etc/hostname\n" +
         "systemctl restart comanda\nsystemctl try-restart avahi-daemon";
}

// Which address the network has for the name of this machine.
Finding CheckAnswer(const Box& box, const std::string& name) {
  net::AvahiQuery query({.avahi_socket = box.machine.PathOf(kSocket)}, name);
  while (!query.Continue()) {
    pollfd wait{.fd = query.socket(), .events = POLLIN, .revents = 0};
    ::poll(&wait, 1, static_cast<int>(query.LeftMs()));
  }
  if (query.address().empty()) {
    return Warning("Nobody answers for " + name + ".",
                   "Devices that use this name do not find the box.",
                   "systemctl restart avahi-daemon\njournalctl -u avahi-daemon -n 20");
  }
  const bool is_own = std::ranges::any_of(
      box.addresses, [&](const InterfaceAddress& one) { return one.address == query.address(); });
  if (is_own || query.address().starts_with("127.")) {
    return Well("Devices find the box as " + name + ".");
  }
  return Broken(name + " is " + query.address() + ", another machine with the same name.",
                "Devices that use this name reach that machine.",
                SetName(name.substr(0, name.find('.')) + "-2"));
}

}  // namespace

// The name under which devices find the box (multicast DNS), which avahi answers for.
Findings CheckName(const Box& box) {
  const std::string host(box.machine.Line("/proc/sys/kernel/hostname"));
  const std::string label = ops::LocalLabel(host);
  const std::string name = label + ".local";
  Findings findings;
  if (AsciiLower(host.substr(0, host.find('.'))) != label) {
    findings.push_back(Warning("The host name \"" + Visible(host) +
                                   "\" cannot be used on a network: devices see " + name + ".",
                               "Devices that look for the box by its host name do not find it.",
                               SetName(label)));
  }
  if (!box.machine.IsThere(kSocket)) {
    const bool is_installed = box.machine.IsThere("/usr/sbin/avahi-daemon");
    findings.push_back(Warning(
        std::string("avahi-daemon ") + (is_installed ? "does not run." : "is not installed."),
        "Devices do not find the box as " + name + "; its address works.",
        is_installed ? "systemctl enable --now avahi-daemon" : "apt install avahi-daemon"));
    return findings;
  }
  if (auto finding = CheckServiceFile(box)) findings.push_back(*std::move(finding));
  findings.push_back(net::IsMulticastName(name) ? CheckAnswer(box, name)
                                                : Well("The host name has no form under .local."));
  return findings;
}

}  // namespace comanda::doctor
