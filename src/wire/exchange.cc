#include "wire/exchange.h"

namespace comanda::wire {

Refusal BodyTooLarge(size_t bytes_max) {
  return Refusal(Problem::kPayloadTooLarge,
                 "The body may have at most " + std::to_string(bytes_max) + " bytes here.");
}

std::string InProcessExchange::ReadBody(size_t bytes_max) {
  if (body_.size() > bytes_max) throw BodyTooLarge(bytes_max);
  return std::exchange(body_, {});
}

}  // namespace comanda::wire
