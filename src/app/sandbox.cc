#include "app/sandbox.h"

#include "base/log.h"
#include "base/problem.h"
#include "wire/problem.h"

namespace comanda::app {
namespace {

constexpr int kRetryAfterS = 60;

const char* Trouble(Fault::Kind kind) {
  if (kind == Fault::Kind::kDiskFull) return "not served: the disk has no space for it";
  if (kind == Fault::Kind::kDiskReadOnly) return "not served: the disk is read-only";
  return "not served: its database cannot be used, the log says why";
}

}  // namespace

Sandbox::Sandbox(Open open, bool has_address, std::string errors_base, const Upgrading& upgrading)
    : open_(std::move(open)), has_address_(has_address), errors_base_(std::move(errors_base)) {
  if (has_address_) TryToOpen(upgrading);
}

bool Sandbox::TryToOpen(const Upgrading& upgrading) {
  try {
    instance_ = open_(upgrading);
  } catch (const std::exception& failure) {
    if (has_address_) trouble_ = Trouble(KindOfHandled());
    log::Error(has_address_ ? "the sandbox is not served, tried again in a minute"
                            : "the sandbox cannot be opened for a command",
               {{"why", failure.what()}});
    return false;
  }
  serving_ = instance_.get();
  if (trouble_.exchange(nullptr)) log::Notice("the sandbox is served");
  return true;
}

void Sandbox::HandleLocal(wire::Exchange& exchange) {
  if (!has_address_) {
    const std::lock_guard lock(local_mutex_);
    if (!instance()) TryToOpen([](const std::string&) {});
  }
  Handle(exchange);
}

void Sandbox::Handle(wire::Exchange& exchange) const {
  if (Instance* instance = serving_) return instance->dispatcher().Handle(exchange);
  Refusal refusal(Problem::kServiceUnavailable,
                  has_address_
                      ? "The sandbox is not served just now; /readyz of the live address says why."
                      : "The sandbox cannot be opened; the log says why.");
  refusal.retry_after_s = kRetryAfterS;
  exchange.response = wire::ProblemResponse(refusal, errors_base_, exchange.request.path,
                                            exchange.request.request_id);
}

}  // namespace comanda::app
