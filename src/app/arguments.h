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

// Those that several commands have.
inline constexpr Flag kDataFlag = {"data", "DIR", "the data directory (default /var/lib/comanda)"};
inline constexpr Flag kCompanyFlag = {"company", "ID",
                                      "which restaurant; needed where there are several"};
inline constexpr Flag kJsonFlag = {"json", "", "the answer as JSON, for scripts"};
inline constexpr Flag kHelpFlag = {"help", "", "show this"};

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

// The arguments of a command, or nothing where --help is among them: then help() is printed.
// Refusal as Parse().
std::optional<Arguments> ReadArguments(std::span<const std::string_view> words,
                                       std::span<const Flag> flags, std::string (*help)());

// Refusal (invalid_parameter) where there are words beside the options.
void RequireOptionsAlone(const Arguments& arguments, std::string_view command);

// Aligned lines "  --data DIR   help" for --help.
std::string DescribeFlags(std::span<const Flag> flags);

}  // namespace comanda::app
