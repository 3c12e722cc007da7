#pragma once

// The files help/<command>.txt, embedded in the program: what `comanda <command> --help` prints, as
// a terminal shows it. scripts/embed.cmake generates the source of these functions. The views are
// valid for the life of the process. Any thread; nothing is thrown.
//
// A line that is a name in double braces is a placeholder, for which the command puts lines that it
// makes from a table (WithLines() in commands/arguments.h): {{options}} in each of them, the
// flags; {{scopes}}, {{settings}}; {{commands}} in help/comanda.txt, which is `comanda --help`.

#include <string_view>

namespace comanda::commands {

std::string_view AuditHelp();
std::string_view BackupHelp();
std::string_view CloudHelp();
std::string_view ProgramHelp();
std::string_view ConfigHelp();
std::string_view DemoHelp();
std::string_view DiskHelp();
std::string_view DoctorHelp();
std::string_view DrillHelp();
std::string_view ExportHelp();
std::string_view ImportHelp();
std::string_view KeysHelp();
std::string_view LoadHelp();
std::string_view OfficeHelp();
std::string_view PairHelp();
std::string_view ProviderHelp();
std::string_view RestoreHelp();
std::string_view ResumeHelp();
std::string_view SelftestHelp();
std::string_view ServeHelp();
std::string_view StatusHelp();
std::string_view TlsHelp();
std::string_view VerifyHelp();
std::string_view VersionHelp();
std::string_view WebhooksHelp();

}  // namespace comanda::commands
