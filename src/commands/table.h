#pragma once

// The commands of a program: those of `comanda` are in sqlite/table.cc, those of `comanda-head` in
// postgresql/table.cc. One of the two is linked.

#include <span>
#include <string_view>

#include "commands/commands.h"

namespace comanda::commands {

struct Command {
  std::string_view name;
  std::string_view summary;
  int (*run)(Words);
};

// What is typed to run it: "comanda".
std::string_view ProgramName();

// In the order in which --help lists them.
std::span<const Command> Commands();
// Commands of the other program, which say what to do instead.
std::span<const Command> CommandsOfOthers();

}  // namespace comanda::commands
