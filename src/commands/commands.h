#pragma once

// The command line, `comanda <command> …`. The table of commands is in commands.cc; each command is
// a file, and help/<command>.txt is what its --help prints. Each function gets the words after the
// command's name, may block for as long as its work takes, prints its own output, and returns an
// exit code. Refusal and Fault are thrown to RunCommand(), which prints them.

#include <span>
#include <string_view>

namespace comanda::commands {

// Exit codes, for scripts.
inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 1;  // a Refusal: the command cannot be carried out
inline constexpr int kExitUsage = 2;    // the command line is wrong
inline constexpr int kExitFault = 70;   // a Fault: disk, database, address in use

using Words = std::span<const std::string_view>;

// Runs the server until a signal ends it.
int Serve(Words words);
// Imports restaurants from a file, through the server if one is running (commands/control.h).
int ImportFile(Words words);
// Plays the demo restaurant as a client of the API (play/play.h).
int Demo(Words words);
// Copies the databases, certificates and settings to a new directory, while the server runs.
int BackUp(Words words);
// Writes all data for comanda-head (db/export_manifest.h).
int Export(Words words);
// Takes such an export into the database of comanda-head.
int Load(Words words);
// Mounts a disk for the backups, also after a restart, or ends that (backups/disk.h).
int Disk(Words words);
// Puts a copy of a backup in the place of the data directory.
int Restore(Words words);
// Restores a backup into a scratch directory and compares it with the data.
int Drill(Words words);
// Ends the hold of outgoing messages (machine/hold.h).
int Resume(Words words);
// Creates, lists and revokes API keys.
int Keys(Words words);
// Makes a pairing code and shows it as a QR code.
int Pair(Words words);
// Lists, adds, tests and removes webhooks.
int Webhooks(Words words);
// Lists, adds, tries and removes delivery apps, and checks files that describe them.
int Providers(Words words);
// Links the restaurant with the cloud, and shows how far they are in step.
int Cloud(Words words);
// Makes a user of the database server who may read the views of the office (office/views.h).
int Office(Words words);
// Prints the audit log.
int ShowAudit(Words words);
// Sends requests to a running server and compares the answers with the contract (selftest/).
int SelfTest(Words words);
// Shows the authority of the box, or makes a new one.
int Tls(Words words);
// Prints all settings with their values.
int ShowConfig(Words words);
// Checks every row of the databases (integrity/verification.h).
int Verify(Words words);
// Says what is well and what is not on this box (doctor/).
int Doctor(Words words);
// Says what the servers of the database are doing: of comanda-head.
int ShowStatus(Words words);
// Prints the version of the program.
int Version(Words words);

// Runs the command that the first word names, and returns its exit code. The whole of main().
int RunCommand(Words words);

}  // namespace comanda::commands
