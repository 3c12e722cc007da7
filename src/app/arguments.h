#pragma once

// The command line of one command: positional words and --name value (or --name=value).

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::app {

struct Flag {
  std::string_view name;      // "data"
  std::string_view argument;  // "DIR"; empty: a switch
  std::string_view help;
};

class Arguments {
 public:
  // Refusal (invalid_parameter) for an unknown flag, with the nearest known one, or a missing
  // value.
  static Arguments Parse(std::span<const std::string_view> words, std::span<const Flag> flags);

  bool Has(std::string_view flag) const { return flags_.contains(std::string(flag)); }
  std::optional<std::string> Find(std::string_view flag) const;
  const std::vector<std::string>& positional() const { return positional_; }
  const std::map<std::string, std::string>& flags() const { return flags_; }

 private:
  std::map<std::string, std::string> flags_;
  std::vector<std::string> positional_;
};

// Aligned lines "  --data DIR   help" for --help.
std::string DescribeFlags(std::span<const Flag> flags);

}  // namespace comanda::app
