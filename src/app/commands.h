#pragma once

// The command line, `comanda <command> …`. The table of commands is in commands.cc; each command is
// a file cmd_*.cc. Each function gets the words after the command's name, may block for as long as
// its work takes, prints its own output, and returns an exit code. Refusal and Fault are thrown to
// RunCommand(), which prints them.

#include <span>
#include <string_view>

namespace comanda::app {

// Exit codes, for scripts.
inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 1;  // a Refusal: the command cannot be carried out
inline constexpr int kExitUsage = 2;    // the command line is wrong
inline constexpr int kExitFault = 70;   // a Fault: disk, database, address in use

using Words = std::span<const std::string_view>;

int Serve(Words words);
int ImportFile(Words words);
int BackUp(Words words);
int Keys(Words words);
int ShowAudit(Words words);
int SelfTest(Words words);
int Tls(Words words);
int ShowConfig(Words words);
int Verify(Words words);
int Version(Words words);

// Runs the command that the first word names, and returns its exit code. The whole of main().
int RunCommand(Words words);

}  // namespace comanda::app
