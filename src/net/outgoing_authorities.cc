#include "net/outgoing_authorities.h"

#include <exception>

#include "base/file.h"
#include "base/log.h"
#include "base/problem.h"
#include "net/network.h"

namespace comanda::net {

std::shared_ptr<const crypto::Authorities> ReadOutgoingAuthorities(const std::string& more_file) {
  std::string pem;
  const auto add = [&](const std::string& path) {
    try {
      pem += ReadFile(path).value_or("") + "\n";
    } catch (const std::exception& error) {
      log::Error("authorities cannot be read", {{"file", path}, {"why", error.what()}});
    }
  };
  if (const auto system = FindSystemAuthorities()) add(*system);
  if (!more_file.empty()) add(more_file);
  try {
    if (!pem.empty()) return std::make_shared<const crypto::Authorities>(pem);
  } catch (const Refusal& refusal) {
    log::Error("no authority can be used", {{"why", refusal.detail}});
  }
  return nullptr;
}

std::shared_ptr<const crypto::Authorities> OutgoingAuthorities::Get() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_read_, true)) authorities_ = ReadOutgoingAuthorities(more_file_);
  return authorities_;
}

void OutgoingAuthorities::Forget() {
  const std::lock_guard lock(mutex_);
  is_read_ = false;
}

}  // namespace comanda::net
