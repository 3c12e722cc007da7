#include <cstdio>

#include "base/text.h"
#include "doctor/checks.h"
#include "doctor/checks/unit.h"

namespace comanda::doctor {
namespace {

constexpr std::string_view kListening = "0A";

// One row of /proc/net/tcp or tcp6 that listens.
struct Listener {
  std::string inode;
};

std::optional<Listener> FindListener(const Machine& machine, int port) {
  char wanted[8];
  std::snprintf(wanted, sizeof wanted, ":%04X", static_cast<unsigned>(port));
  for (const char* file : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    const std::string text = machine.Read(file).value_or("");
    std::string_view rest = text;
    while (!rest.empty()) {
      // sl local_address rem_address st queues timer retransmits uid timeout inode
      const std::vector<std::string_view> words = WordsOf(TakePiece(rest, '\n'));
      if (words.size() > 9 && words[1].ends_with(wanted) && words[3] == kListening) {
        return Listener{.inode = std::string(words[9])};
      }
    }
  }
  return std::nullopt;
}

struct Holder {
  std::string process;  // its id; empty: not found, which needs root
  std::string name;
};

Holder FindHolder(const Machine& machine, const Listener& listener) {
  const std::string socket = "socket:[" + listener.inode + "]";
  for (const std::string& process : machine.List("/proc")) {
    if (!ParseNumber(process)) continue;
    const std::string descriptors = "/proc/" + process + "/fd/";
    for (const std::string& fd : machine.List(descriptors)) {
      if (machine.Target(descriptors + fd) == socket) {
        return {.process = process, .name = machine.Line("/proc/" + process + "/comm")};
      }
    }
  }
  return {};
}

Finding CheckPort(const Box& box, const std::string& listen) {
  const int port = PortOf(listen);
  const std::string number = std::to_string(port);
  const std::string command = "ss -ltnp 'sport = :" + number + "'";
  const std::optional<Listener> listener = FindListener(box.machine, port);
  if (!listener) {
    if (!box.server) return Well("Port " + number + " is free for the server.");
    return Broken("The server runs, and nothing listens on port " + number + ".",
                  "Tills and displays cannot connect.", command + "\njournalctl -u comanda -n 20");
  }
  if (!box.server) {
    const Holder holder = FindHolder(box.machine, *listener);
    // systemd holds the socket of a unit for the service.
    if (holder.process == "1") return Well("systemd holds port " + number + " for the server.");
    return Broken("Port " + number + " is taken by " +
                      (holder.process.empty() ? std::string("another program")
                                              : holder.name + " (process " + holder.process + ")") +
                      ".",
                  "The server cannot start.",
                  command + "     # stop that program, or set another port: listen = 0.0.0.0:8444");
  }
  const std::string host = listen.substr(0, listen.rfind(':'));
  if (host.starts_with("127.") || host == "[::1]") {
    return Warning("The server listens on " + listen + " alone.",
                   "No other device can connect: this address is inside the machine.",
                   "comanda config set listen 0.0.0.0:" + number + " --data " +
                       box.options.data_directory + "\n" + RestartCommand(box));
  }
  return Well("The server listens on " + listen + ".");
}

}  // namespace

bool IsTakenByAnother(const Box& box, int port) {
  const std::optional<Listener> listener = FindListener(box.machine, port);
  if (!listener) return false;
  const Holder holder = FindHolder(box.machine, *listener);
  // The server keeps the sockets that systemd gave to it, also of a unit that was disabled since.
  const bool is_ours = holder.process == "1" ||
                       (box.server && holder.process == std::to_string(box.server->process));
  return !is_ours;
}

Findings CheckPorts(const Box& box) {
  Findings findings = {CheckPort(box, box.options.listen)};
  if (!box.options.sandbox_listen.empty()) {
    Finding sandbox = CheckPort(box, box.options.sandbox_listen);
    // A sandbox for this machine alone is as good.
    if (sandbox.state == State::kWarning) {
      sandbox = Well("The sandbox listens on " + box.options.sandbox_listen + ".");
    }
    findings.push_back(std::move(sandbox));
  }
  return findings;
}

}  // namespace comanda::doctor
