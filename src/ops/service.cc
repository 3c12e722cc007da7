#include "ops/service.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "ops/program.h"

namespace comanda::ops {
namespace {

constexpr const char* kUnit = "comanda.service";

// systemd waits as long as a stop or a start takes by the unit's own limits, an upgrade of the
// databases included.
constexpr int64_t kAskMs = 30'000;
constexpr int64_t kChangeMs = 60 * 60'000;

std::string Property(const std::string& name) {
  return std::string(Trimmed(
      RunProgram("systemctl", {"show", "--property=" + name, "--value", kUnit}, kAskMs).text));
}

void Change(const char* verb) {
  const Said said = RunProgram("systemctl", {verb, kUnit}, kChangeMs);
  if (said.status == 0) return;
  throw Fault(Fault::Kind::kUnavailable, "systemctl " + std::string(verb) + " " + kUnit +
                                             " failed: " + Visible(Trimmed(said.text)));
}

bool IsSame(const std::string& one, const std::string& other) {
  struct stat first = {}, second = {};
  return ::stat(one.c_str(), &first) == 0 && ::stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

}  // namespace

// { path=/usr/bin/comanda ; argv[]=/usr/bin/comanda serve --data /var/lib/comanda ; … }
std::string DataDirectoryOf(const std::string& exec_start) {
  constexpr std::string_view kWords = "argv[]=";
  const size_t begin = exec_start.find(kWords);
  if (begin == exec_start.npos) return "";
  std::string_view rest = std::string_view(exec_start).substr(begin + kWords.size());
  rest = rest.substr(0, rest.find(" ;"));
  bool is_next = false;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find(' '), rest.size());
    const std::string_view word = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (is_next) return std::string(word);
    if (word.starts_with("--data=")) return std::string(word.substr(7));
    is_next = word == "--data";
  }
  return "/var/lib/comanda";
}

std::optional<Service> Service::Of(const std::string& data_directory) {
  if (::geteuid() != 0 || ::access("/run/systemd/system", F_OK) != 0) return std::nullopt;
  const std::string served = DataDirectoryOf(Property("ExecStart"));
  if (served.empty()) return std::nullopt;
  if (WithoutSlash(served) != WithoutSlash(data_directory) && !IsSame(served, data_directory)) {
    return std::nullopt;
  }
  return Service(data_directory);
}

bool Service::IsActive() const {
  const std::string state = Property("ActiveState");
  return state != "inactive" && state != "failed" && !state.empty();
}

// Looks at the files that the process has open: /proc/locks names files by numbers that differ from
// those of stat(2) on some file systems.
bool Service::HoldsLock() const {
  const std::string pid = Property("MainPID");
  if (pid.empty() || pid == "0") return false;
  const std::string files = "/proc/" + pid + "/fd";
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(files.c_str()), &::closedir);
  if (!entries) return false;
  while (const dirent* entry = ::readdir(entries.get())) {
    if (IsSame(files + "/" + entry->d_name, data_directory_ + "/comanda.lock")) return true;
  }
  return false;
}

std::optional<Service::User> Service::FindUser() const {
  const std::string start = "\n" + Property("User") + ":";
  const std::string users = "\n" + ReadFile("/etc/passwd").value_or("");
  const size_t line = users.find(start);
  if (start == "\n:" || line == users.npos) return std::nullopt;
  // NAME:SECRET:USER:GROUP:…
  const size_t secret = users.find(':', line + start.size());
  if (secret == users.npos) return std::nullopt;
  const char* rest = users.c_str() + secret + 1;
  char* end = nullptr;
  User found;
  found.user = static_cast<uid_t>(::strtoul(rest, &end, 10));
  if (end == rest || *end != ':') return std::nullopt;
  found.group = static_cast<gid_t>(::strtoul(end + 1, nullptr, 10));
  return found;
}

void Service::Stop() const { Change("stop"); }

void Service::Start() const { Change("start"); }

}  // namespace comanda::ops
