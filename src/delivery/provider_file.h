#pragma once

// The files that describe providers: reading and checking. The published description is schema.json
// (`comanda provider schema`); a test holds the reader to every member, kind and bound of it. A
// file is taken whole or not at all. Pure functions; any thread.

#include <string>
#include <string_view>
#include <vector>

#include "base/problem.h"
#include "delivery/provider.h"

namespace comanda::delivery {

inline constexpr size_t kFileBytesMax = 64 * 1024;
inline constexpr size_t kRulesMax = 50;
// An app is not asked more often, whatever its file says.
inline constexpr int64_t kFreshSecondsMin = 10;

// The provider of a file, or those of its `providers`. Refusal invalid_json or validation_failed,
// with every mistake (of the first provider that has one) in errors[], for: a key or variable that
// is not known, a URL that is not https, names another host than `hosts` or an address instead of a
// name, a secret in a URL (but of a token of the kind "query"), a value out of its bounds, more
// than kRulesMax rules, more than kFileBytesMax bytes.
std::vector<Provider> ReadProviders(std::string_view text);

// The providers that cannot be asked, which have names and countries alone: an array of them.
std::vector<Provider> ReadUnsupported(std::string_view text);

// The mistakes that ReadProviders() found, each with the line of the file: "line 12: status.url:
// must be …".
std::vector<std::string> DescribeMistakes(std::string_view text, const Refusal& refusal);

}  // namespace comanda::delivery
