#include "doctor/checks.h"
#include "base/counted.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kDayMs = 86'400'000;
// The libraries inside that read from the network (TLS, DNS, HTTP) got security corrections seven
// times in the twelve months to November 2026, in Debian's release alone: a program of half a year
// lacks several. A shorter time would ask for an update where no newer package was made yet.
constexpr int64_t kAgeMaxMs = 180 * kDayMs;

// Where newer packages come from.
struct Source {
  std::string sentence;
  std::string command;
};

Source SourceOf(const Machine& machine) {
  // The name that scripts/repository gives it. Its address is not shown: it may have a password.
  if (machine.IsThere("/etc/apt/sources.list.d/comanda.sources")) {
    return {"Newer ones come by apt (comanda.sources).", "apt update && apt install comanda"};
  }
  // Every package has this file, and install.sh leaves it out; dpkg's own files are not read.
  if (machine.IsThere("/usr/share/doc/comanda/changelog.gz")) {
    return {
        "Newer ones come as packages from the maintainer whom the installed one names.",
        "dpkg-query -W -f '${Maintainer}\\n' comanda     # whom to ask for it; then: apt install "
        "./ITS-FILE.deb"};
  }
  return {"Newer ones come from where this one came.",
          "comanda version     # then, in the unpacked newer comanda-….tar.gz: ./install.sh"};
}

}  // namespace

Findings CheckUpdates(const Box& box) {
  const Source source = SourceOf(box.machine);
  const int64_t age_ms = box.now - box.built;
  std::string what = "This program was built on " + FormatInstant(box.built).substr(0, 10);
  if (age_ms >= 0) what += ", " + Counted(age_ms / kDayMs, "day ago", "days ago");
  what += ". " + source.sentence;
  // A box that reaches no time server is offline, or does not know the date: it is not asked for
  // what it cannot do, for an age that may be wrong.
  if (age_ms <= kAgeMaxMs || box.clock.state != "synchronised") return {Well(what)};
  return {Warning(what,
                  "The libraries inside it that read from the network get security corrections "
                  "several times a year; only a newer program has them.",
                  source.command)};
}

}  // namespace comanda::doctor
