#pragma once

// A walk through the whole contract against a running server: this box, its sandbox, or a cloud.
// It tells what is as the contract says and what differs, and leaves behind only what the API gives
// no way to remove, named at the end: the orders it made, cancelled; one hidden product; the keys
// it made, revoked.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "crypto/authorities.h"
#include "net/network.h"

namespace comanda::selftest {

struct Settings {
  std::string url;  // "https://box:8443", or with a path before /v1
  std::string key;  // never shown
  std::shared_ptr<const crypto::Authorities> authorities;  // null: nobody is trusted
  // Asked between the checks: true ends the walk, what was made is still tidied up.
  std::function<bool()> interrupted = [] { return false; };
};

enum class Result : uint8_t { kOk, kDiffers, kNotChecked };
constexpr std::string_view Name(Result result) {
  switch (result) {
    case Result::kOk:
      return "ok";
    case Result::kDiffers:
      return "differs";
    case Result::kNotChecked:
      return "not checked";
  }
  return {};
}

struct Difference {
  std::string what;
  std::string expected;
  std::string got;
};

// What came of one check. The views live as long as the program.
struct Outcome {
  std::string_view subject;
  std::string_view name;     // in a technician's words
  std::string_view section;  // of the contract
  std::string_view words;    // what the contract says
  Result result = Result::kOk;
  std::string note;  // why it was not checked, or a word beside an "ok"
  std::vector<Difference> differences;
};

// Something that this walk made and that stays on the server.
struct Remnant {
  std::string reference;  // of an order; a product's sku, a key's name
  std::string id;         // empty: the server never told it
  std::string public_id;
  std::string status;  // as last seen; empty: unknown
  std::string_view kind = "order";
};

struct Summary {
  std::vector<Outcome> outcomes;
  std::vector<Remnant> remnants;
  int64_t waited_s = 0;  // for the server's rate limit

  size_t Count(Result result) const;
};

// Tells each outcome as soon as it is known. Fault (kUnavailable) where nothing answers at the
// address. One thread.
Summary Run(const Settings& settings, net::Network& network,
            const std::function<void(const Outcome&)>& tell);

// For a terminal, line by line, and for scripts, as one object.
std::string AsText(const Outcome& outcome);
std::string AsText(const Summary& summary);
std::string AsJson(const Settings& settings, const Summary& summary);

}  // namespace comanda::selftest
