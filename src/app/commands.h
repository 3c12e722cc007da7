#pragma once

// The command line: `comanda <command> …`. The table stands in commands.cc, one file per command
// beside it.

#include <span>
#include <string_view>

namespace comanda::app {

// Exit codes, for scripts.
inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 1;  // what was asked cannot be done; the reason is on stderr
inline constexpr int kExitUsage = 2;    // the command line is wrong
inline constexpr int kExitFault = 70;   // ours or the machine's: disk, database, address in use

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

int RunCommand(Words words);

}  // namespace comanda::app
