#include "doctor/checks/named_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "backups/sealed.h"
#include "base/file.h"
#include "base/problem.h"
#include "base/problem_text.h"
#include "crypto/authorities.h"
#include "doctor/bounded.h"
#include "doctor/checks/unit.h"
#include "ops/user.h"

namespace comanda::doctor {
namespace {

constexpr int64_t kLookMs = 3'000;

struct NamedFile {
  std::string_view setting;
  std::string config::Options::*path;
  State state;  // while it cannot be used
  std::string_view
      without;  // the settings that are unset to go on without it; a passphrase is made
  std::string_view why;
};

constexpr std::string_view kStart = "The server does not start without it.";
constexpr std::string_view kPair = "tls_certificate tls_key";
constexpr std::string_view kPassphrase = "backup_passphrase_file";

const std::array kFiles = {
    NamedFile{"tls_certificate", &config::Options::tls_certificate, State::kBroken, kPair, kStart},
    NamedFile{"tls_key", &config::Options::tls_key, State::kBroken, kPair, kStart},
    NamedFile{"webhook_ca", &config::Options::webhook_ca, State::kWarning, "webhook_ca",
              "Receivers and apps with those authorities get no message after the next start."},
    NamedFile{"cloud_ca_file", &config::Options::cloud_ca_file, State::kWarning, "cloud_ca_file",
              "The sync with the cloud stops at the next start."},
    NamedFile{kPassphrase, &config::Options::backup_passphrase_file, State::kWarning, "",
              "No backup is made: what came after the last one is lost with the disk."},
};

// The places that the unit's ProtectHome= and PrivateTmp= hide.
constexpr std::array<std::string_view, 5> kHidden = {"/home/", "/root/", "/run/user/", "/tmp/",
                                                     "/var/tmp/"};

std::string NameOf(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string ModeAndOwner(const struct stat& found) {
  std::array<char, 8> mode;
  std::snprintf(mode.data(), mode.size(), "%04o", static_cast<unsigned>(found.st_mode & 07777));
  return "it belongs to " + NameOfUser(found.st_uid) + ", mode " + mode.data();
}

// The commands that put a copy where the service can read it.
std::string HowToMove(const NamedFile& file, const std::string& path, const std::string& owner,
                      const std::string& data) {
  const std::string to = "/etc/comanda-" + NameOf(path);
  return "install -m 600 -o " + owner + " '" + path + "' '" + to + "'\ncomanda config set " +
         std::string(file.setting) + " '" + to + "' --data " + data;
}

// Why the content cannot be used; empty if it can.
std::string WhyUseless(const NamedFile& file, const std::string& path) {
  try {
    if (file.setting == kPassphrase) {
      backups::ReadPassphrase(path);
    } else if (file.setting.find("_ca") != file.setting.npos) {
      crypto::Authorities{ReadFile(path).value_or("")};
    }
    return "";
  } catch (const Refusal& refusal) {
    return InWords(refusal);
  } catch (const Fault& fault) {
    return fault.cause;
  }
}

// The commands after which all goes on without the file. What lies there is kept.
std::string HowToGoOn(const NamedFile& file, const Box& box, const std::string& path) {
  if (file.setting == kPassphrase) {
    struct stat found = {};
    const bool is_there = ::lstat(path.c_str(), &found) == 0;
    return (is_there ? "mv '" + path + "' '" + path + ".of-no-use'\n" : "") + HowToSeal(box);
  }
  return "comanda config unset " + std::string(file.without) + " --data " +
         box.options.data_directory + "     # goes on without the file; or correct the file";
}

std::optional<Finding> LookAt(const NamedFile& file, const Box& box, const std::string& owner,
                              bool has_unit) {
  const std::string& path = box.options.*file.path;
  if (path.empty()) return std::nullopt;
  const std::string& data = box.options.data_directory;
  const auto say = [&](const std::string& what, const std::string& command) {
    Finding finding = Warning(std::string(file.setting) + " names " + path + ", " + what + ".",
                              file.why, command);
    finding.state = file.state;
    finding.check = file.setting;
    return finding;
  };
  if (has_unit) {
    for (const std::string_view hidden : kHidden) {
      if (path.starts_with(hidden)) {
        return say(
            "which the service does not see: its unit hides " + std::string(hidden) + " from it",
            HowToMove(file, path, owner, data));
      }
    }
  }
  struct stat found = {};
  if (const std::string closed = ClosedAbove(path); !closed.empty()) {
    const std::string who = ::stat(closed.c_str(), &found) == 0 ? ": " + ModeAndOwner(found) : "";
    return say("and " + owner + ", as whom the service runs, may not enter " + closed + who,
               HowToMove(file, path, owner, data));
  }
  const std::string go_on = HowToGoOn(file, box, path);
  if (::stat(path.c_str(), &found) != 0) {
    return errno == ENOENT
               ? say("which is missing", go_on)
               : say("which cannot be read: " + std::string(std::strerror(errno)), go_on);
  }
  if (!S_ISREG(found.st_mode)) return say("which is no file", go_on);
  if (::access(path.c_str(), R_OK) != 0) {
    return say(
        "which " + owner + ", as whom the service runs, may not read: " + ModeAndOwner(found),
        "chown " + owner + " '" + path + "' && chmod u+r '" + path + "'");
  }
  const std::string why = WhyUseless(file, path);
  if (!why.empty()) return say("which cannot be used: " + why, go_on);
  return std::nullopt;
}

bool MayLookAsOwner(const Box& box) {
  const auto owner = ops::OwnerOf(box.options.data_directory);
  return ::geteuid() == 0 || !owner || owner->user == ::geteuid();
}

}  // namespace

std::string ClosedAbove(const std::string& path) {
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, std::max<size_t>(slash, 1));
    if (::access(above.c_str(), X_OK) != 0 && errno == EACCES) return above;
  }
  return "";
}

std::string HowToSeal(const Box& box) {
  const std::string file = "/etc/comanda-passphrase";
  const std::string& data = box.options.data_directory;
  // A file that is there opens older backups.
  return "[ -s " + file + " ] || (umask 077; head -c 15 /dev/urandom | base64 >" + file +
         ")\nchown " + NameOfOwner(box) + " " + file + "\ncat " + file +
         "     # keep it on paper, elsewhere: nobody opens the backups without it\n"
         "comanda config set backup_passphrase_file " +
         file + " --data " + data + "\ncomanda backup --data " + data;
}

std::string NameOfOwner(const Box& box) {
  const auto owner = ops::OwnerOf(box.options.data_directory);
  return owner ? owner->name : UserOf(box);
}

std::optional<std::string> AsOwner(const Box& box, const std::function<std::string()>& work) {
  if (!MayLookAsOwner(box)) return std::nullopt;
  const auto look = [&] {
    if (const auto owner = ops::OwnerOf(box.options.data_directory)) ops::Become(*owner);
    return work();
  };
  return RunBounded(look, kLookMs).result;
}

Findings NamedFiles(const Box& box) {
  if (std::ranges::all_of(
          kFiles, [&](const NamedFile& file) { return (box.options.*file.path).empty(); })) {
    return {};
  }
  if (!MayLookAsOwner(box)) return {};
  const bool has_unit = FindUnit(box).has_value();
  const std::string owner = NameOfOwner(box);
  const auto result = AsOwner(box, [&] {
    Findings findings;
    for (const NamedFile& file : kFiles) {
      if (auto finding = LookAt(file, box, owner, has_unit))
        findings.push_back(*std::move(finding));
    }
    return ToJson(findings);
  });
  if (result) return FromJson(*result);
  Finding finding = Warning("The files that the settings name cannot be looked at.",
                            "The disk that they are on hangs.", "dmesg --level=err | tail");
  finding.check = "settings";
  return {finding};
}

}  // namespace comanda::doctor
