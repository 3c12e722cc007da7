#include "app/listeners.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"
#include "wire/listener.h"

namespace comanda::app {
namespace {

constexpr std::string_view kSetupUnit = "comanda-setup.socket";

// The setting of each role, which is also the name under which its listener is stored.
constexpr std::array<std::string_view, kRoles> kSettings = {"listen", "sandbox_listen",
                                                            "setup_listen"};

size_t Index(Role role) { return static_cast<size_t>(role); }

}  // namespace

Listeners::Listeners(std::vector<ops::PassedDescriptor> passed, const config::Options& options)
    : wanted_{options.listen, options.sandbox_listen, options.setup_listen} {
  for (ops::PassedDescriptor& one : passed) Assign(std::move(one));
}

void Listeners::Assign(ops::PassedDescriptor passed) {
  const std::optional<std::string> address = wire::ListeningAddress(passed.fd.get());
  if (!address) {
    log::Error("ignored a socket of systemd that is no listening TCP socket: correct its unit",
               {{"from", passed.name}});
    return;
  }
  const auto* const stored = std::ranges::find(kSettings, passed.name);
  const bool is_stored = stored != kSettings.end();
  size_t role = Index(passed.name == kSetupUnit ? Role::kSetup : Role::kRestaurant);
  if (is_stored) {
    role = static_cast<size_t>(stored - kSettings.begin());
    if (!wire::Serves(*address, wanted_[role])) {
      log::Notice("closed the former listener: the setting has changed",
                  {{"address", *address}, {"setting", passed.name}});
      ops::DiscardDescriptors(passed.name);
      return;
    }
  } else {
    for (size_t i = 0; i < kRoles; ++i) {
      if (wire::Serves(*address, wanted_[i])) role = i;
    }
  }
  log::Notice("took over a listener",
              {{"address", *address},
               {"from", is_stored ? "the process before" : std::string_view(passed.name)},
               {"for", kSettings[role]}});
  found_[role].push_back({std::move(passed.fd), *address});
}

std::vector<Listener> Listeners::Take(Role role) {
  const std::string& wanted = wanted_[Index(role)];
  std::vector<Listener> listeners = std::exchange(found_[Index(role)], {});
  if (wanted.empty()) return listeners;

  const auto own = std::ranges::find_if(
      listeners, [&](const Listener& one) { return wire::Serves(one.address, wanted); });
  if (own != listeners.end()) {
    std::rotate(listeners.begin(), own, own + 1);
    return listeners;
  }
  Fd fd = wire::OpenListener(wanted);
  ops::StoreDescriptor(fd.get(), kSettings[Index(role)]);
  listeners.insert(listeners.begin(), Listener{std::move(fd), wanted});
  return listeners;
}

}  // namespace comanda::app
