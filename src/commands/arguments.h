#pragma once

// The command line of one command: positional words and flags, written --name VALUE or
// --name=VALUE. Hyphens and underscores in names are the same. Pure.

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comanda::commands {

struct Flag {
  std::string_view name;      // without hyphens: "data"
  std::string_view argument;  // the name of its value in --help: "DIR"; empty: it takes none
  std::string_view help;
};

// Flags of several commands.
inline constexpr Flag kDataFlag = {"data", "DIR", "the data directory (default /var/lib/comanda)"};
inline constexpr Flag kCompanyFlag = {"company", "ID",
                                      "which restaurant; needed where there are several"};
inline constexpr Flag kJsonFlag = {"json", "", "the answer as JSON, for scripts"};
inline constexpr Flag kYesFlag = {"yes", "", "do not ask"};
inline constexpr Flag kHelpFlag = {"help", "", "show this"};

class Arguments {
 public:
  // Refusal invalid_parameter for an unknown flag, with the most similar known one, and for a flag
  // without its value.
  static Arguments Parse(std::span<const std::string_view> words, std::span<const Flag> flags);

  // Flags are looked up by Flag::name.
  bool Has(std::string_view flag) const { return flags_.contains(std::string(flag)); }
  std::optional<std::string> Find(std::string_view flag) const;
  const std::vector<std::string>& positional() const { return positional_; }
  // The positional word with that number, counted from the verb of the command. Refusal
  // invalid_parameter, which says what to name, if there are not so many.
  const std::string& Word(size_t number, std::string_view what, std::string_view command) const;
  const std::map<std::string, std::string>& flags() const { return flags_; }

 private:
  std::map<std::string, std::string> flags_;
  std::vector<std::string> positional_;
};

// The arguments of a command. Nothing if --help is among them: then prints `help`, the text of
// commands/embedded.h, with the flags as its {{options}}. Throws as Parse().
std::optional<Arguments> ReadArguments(std::span<const std::string_view> words,
                                       std::span<const Flag> flags, std::string_view help);

// The content of a file that a flag names; of the input for "-". Refusal not_found if there is
// none.
std::string ReadInput(const std::string& path);

// A verb of a command: the first positional word.
struct Verb {
  std::string_view name;
  size_t words_max;  // how many words may follow it
};
// The verb. Refusal invalid_parameter if the first word is none of them, or too many words follow.
std::string_view ReadVerb(const Arguments& arguments, std::span<const Verb> verbs,
                          std::string_view command);

// Refusal invalid_parameter if there are positional words.
void RequireOptionsAlone(const Arguments& arguments, std::string_view command);

// A text of commands/embedded.h with these lines, each with its line end, in the place of its line
// {{name}}. Ends the process where the text lacks it (CHECK): it is part of the program.
std::string WithLines(std::string_view help, std::string_view name, std::string_view lines);

}  // namespace comanda::commands
