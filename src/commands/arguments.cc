#include "commands/arguments.h"

#include <algorithm>

#include "base/check.h"
#include "base/concat.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/problem.h"
#include "base/text.h"
#include "commands/terminal.h"

namespace comanda::commands {
namespace {

// Names in configuration files have underscores; on a command line hyphens are usual.
std::string WithUnderscores(std::string_view name) {
  std::string text(name);
  std::ranges::replace(text, '-', '_');
  return text;
}

const Flag& FindFlag(std::string_view name, std::span<const Flag> flags) {
  const auto it = std::ranges::find_if(
      flags, [&](const Flag& flag) { return WithUnderscores(flag.name) == WithUnderscores(name); });
  if (it != flags.end()) return *it;

  std::vector<std::string_view> names;
  for (const Flag& flag : flags) names.push_back(flag.name);
  const std::string_view nearest = Nearest(name, names);
  std::string message = "--" + std::string(name) + " is not an option of this command";
  if (!nearest.empty()) message += "; did you mean --" + std::string(nearest) + "?";
  throw Refusal(Problem::kInvalidParameter, message);
}

// The lines of --help for these flags: "  --data DIR   help", aligned.
std::string DescribeFlags(std::span<const Flag> flags) {
  const auto left = [](const Flag& flag) {
    std::string text = "  --" + std::string(flag.name);
    if (!flag.argument.empty()) text += " " + std::string(flag.argument);
    return text;
  };
  size_t width = 0;
  for (const Flag& flag : flags) width = std::max(width, CharacterCount(left(flag)));

  std::string out;
  for (const Flag& flag : flags) {
    const std::string line = left(flag);
    out +=
        line + std::string(width + 3 - CharacterCount(line), ' ') + std::string(flag.help) + "\n";
  }
  return out;
}

}  // namespace

Arguments Arguments::Parse(std::span<const std::string_view> words, std::span<const Flag> flags) {
  Arguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (!word.starts_with("--")) {
      arguments.positional_.emplace_back(word);
      continue;
    }
    word.remove_prefix(2);
    const size_t equals = word.find('=');
    const Flag& flag = FindFlag(word.substr(0, equals), flags);
    std::string value;
    if (equals != std::string_view::npos) {
      value = word.substr(equals + 1);
    } else if (!flag.argument.empty()) {
      if (i + 1 == words.size()) {
        throw Refusal(
            Problem::kInvalidParameter,
            "--" + std::string(flag.name) + " needs a value: " + std::string(flag.argument));
      }
      value = words[++i];
    }
    arguments.flags_.insert_or_assign(std::string(flag.name), std::move(value));
  }
  return arguments;
}

std::optional<std::string> Arguments::Find(std::string_view flag) const {
  const auto it = flags_.find(std::string(flag));
  if (it == flags_.end()) return std::nullopt;
  return it->second;
}

std::optional<Arguments> ReadArguments(std::span<const std::string_view> words,
                                       std::span<const Flag> flags, std::string_view help) {
  Arguments arguments = Arguments::Parse(words, flags);
  if (!arguments.Has(kHelpFlag.name)) return arguments;
  Print(WithLines(help, "options", DescribeFlags(flags)));
  return std::nullopt;
}

std::string_view ReadVerb(const Arguments& arguments, std::span<const Verb> verbs,
                          std::string_view command) {
  const std::vector<std::string>& words = arguments.positional();
  const std::string_view first = words.empty() ? std::string_view() : words.front();
  const auto verb = std::ranges::find(verbs, first, &Verb::name);
  const std::string see = Concat({"; see comanda ", command, " --help"});
  if (verb == verbs.end()) {
    std::string list;
    for (size_t i = 0; i < verbs.size(); ++i) {
      if (i > 0) list += i + 1 == verbs.size() ? " or " : ", ";
      list += verbs[i].name;
    }
    throw Refusal(Problem::kInvalidParameter, Concat({"say ", list, see}));
  }
  if (words.size() - 1 > verb->words_max) {
    throw Refusal(Problem::kInvalidParameter,
                  Concat({"'", words[1 + verb->words_max], "' is a word too many", see}));
  }
  return verb->name;
}

void RequireOptionsAlone(const Arguments& arguments, std::string_view command) {
  if (arguments.positional().empty()) return;
  const std::string name(command);
  throw Refusal(Problem::kInvalidParameter,
                name + " takes options alone; see comanda " + name + " --help");
}

std::string WithLines(std::string_view help, std::string_view name, std::string_view lines) {
  const std::string line = Concat({"{{", name, "}}\n"});
  const size_t at = help.find(line);
  CHECK(at != help.npos, "a text of commands/help lacks a placeholder");
  return Concat({help.substr(0, at), lines, help.substr(at + line.size())});
}

const std::string& Arguments::Word(size_t number, std::string_view what,
                                   std::string_view command) const {
  if (positional_.size() > number) return positional_[number];
  throw Refusal(Problem::kInvalidParameter,
                Concat({"name the ", what, "; see comanda ", command, " --help"}));
}

std::string ReadInput(const std::string& path) {
  auto content = ReadFile(path == "-" ? "/dev/stdin" : path);
  if (!content) throw Refusal(Problem::kNotFound, "there is no file " + path);
  return *std::move(content);
}

}  // namespace comanda::commands
