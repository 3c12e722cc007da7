#pragma once

// The systemd unit comanda.service, as `systemctl` knows it: for commands that must stop and start
// the server. Functions block for systemctl. Not on threads that serve requests.

#include <sys/types.h>

#include <optional>
#include <string>

namespace comanda::ops {

class Service {
 public:
  // The unit, if this runs as root on a machine that systemd runs, and the unit serves that
  // directory. Else nothing.
  static std::optional<Service> Of(const std::string& data_directory);

  // Running, or starting, or about to be started again.
  bool IsActive() const;
  // Whether the lock of the data directory is held by the unit's process. False where it is held by
  // another one.
  bool HoldsLock() const;
  // The unit's user and its group, as /etc/passwd has them; nothing where it has none.
  struct User {
    uid_t user = 0;
    gid_t group = 0;
  };
  std::optional<User> FindUser() const;
  // Fault with what systemctl says.
  void Stop() const;
  // Returns when the server is ready. Fault where it does not start.
  void Start() const;

 private:
  explicit Service(std::string data_directory) : data_directory_(std::move(data_directory)) {}
  std::string data_directory_;
};

// The value of --data among the words of systemctl's property ExecStart; "/var/lib/comanda" where
// it is not among them; empty where the property names no command. Pure.
std::string DataDirectoryOf(const std::string& exec_start);

}  // namespace comanda::ops
