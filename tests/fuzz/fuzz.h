#pragma once

// What the fuzzers share: input that is taken apart, and properties that must hold.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "base/text.h"
#include "wire/problem.h"
#include "json/reader.h"

namespace comanda::fuzz {

// A property of the product: where it does not hold, the fuzzer has found something.
inline void Must(bool holds, std::string_view what) {
  if (holds) return;
  std::fprintf(stderr, "PROPERTY BROKEN: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

inline std::string_view TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// The first byte, which picks one of several readers; 0 where there is none.
inline uint8_t TakeByte(std::string_view& input) {
  if (input.empty()) return 0;
  const auto byte = static_cast<uint8_t>(input.front());
  input.remove_prefix(1);
  return byte;
}

// Gives the input to the reader that its first byte picks.
template <size_t kCount>
void ReadBy(void (*const (&readers)[kCount])(std::string_view), std::string_view input) {
  const uint8_t choice = TakeByte(input);
  readers[choice % kCount](input);
}

// A refusal is the caller's fault, says so in words, and makes a problem document that can be read.
inline void CheckRefusal(const Refusal& refusal) {
  const int status = wire::Row(refusal.problem).status;
  Must(status >= 400 && status != 500 && status != 503, "a refusal is the caller's fault");
  Must(!refusal.detail.empty(), "a refusal says why");
  Must(refusal.errors.size() <= kFieldErrorsMax, "an answer names at most so many fields");
  if (refusal.problem == Problem::kValidationFailed) {
    Must(!refusal.errors.empty(), "validation_failed names a field");
  }
  for (const FieldError& error : refusal.errors) {
    Must(!error.field.empty() && !error.message.empty(), "a wrong field has a name and a message");
  }
  const wire::Response answer =
      wire::ProblemResponse(refusal, "https://comanda.example/problems", "/", "r");
  try {
    const json::Document document = json::Document::Parse(answer.Body());
    Must(document.root().Find("code")->text() == wire::Row(refusal.problem).code,
         "a problem document names its code");
  } catch (const Refusal& unreadable) {
    Must(false, "a problem document is strict JSON: " + unreadable.detail);
  }
}

}  // namespace comanda::fuzz
