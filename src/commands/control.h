#pragma once

// How a command acts on a data directory: it sends a request to the same handlers that serve the
// API (design section 4). While a server owns the directory, the request goes over its control
// socket; else the command opens the database itself. On a read-only disk a server may have no
// control socket: requests that read are then answered beside it, others are refused.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "auth/key.h"
#include "commands/arguments.h"
#include "config/options.h"

namespace comanda::commands {

struct ControlCall {
  auth::Mode mode = auth::Mode::kLive;
  std::string method;
  std::string path;          // with the query
  std::string company_uuid;  // empty: the only company of the database
  std::string body;          // JSON, or empty
  bool may_begin = false;    // make the directory and the database if they are missing
};

struct ControlAnswer {
  int status = 0;
  std::string body;
};

// Sends the request and returns the answer, whatever its status. Blocks for 120 s at most while a
// server handles it. Refusal if there is no database and the call may not begin one; Fault, with
// what to do, if a server owns the directory and does not answer, or the directory cannot be used.
ControlAnswer CallControl(const config::Options& options, const ControlCall& call);

// The same for commands that add nothing to a refusal: throws it.
ControlAnswer CallControlOrRefuse(const config::Options& options, const ControlCall& call);

// The call of a command with the flags --data, --env and --company.
ControlAnswer CallControl(const Arguments& arguments, std::string method, std::string path,
                          std::string body = {});
// Prints why the call was refused, and returns the exit code.
int Refused(const ControlAnswer& answer);

// Asks the server that owns the directory with a GET, and opens nothing itself. Nothing if no
// server answers within `timeout_ms`; `trouble` then says why.
std::optional<ControlAnswer> AskServer(const config::Options& options, const std::string& path,
                                       int64_t timeout_ms, std::string& trouble);
// The same of any call.
std::optional<ControlAnswer> AskServer(const config::Options& options, const ControlCall& call,
                                       int64_t timeout_ms, std::string& trouble);

// Refusal if the database file does not exist, so that a mistyped directory is reported instead of
// used as an empty one.
void RequireDatabase(const std::string& path);
// The same of the database that the settings name.
void RequireDatabase(auth::Mode mode, const config::Options& options);

// The flags --data and --env. Refusal for a value that cannot be used.
config::Options ReadControlOptions(const Arguments& arguments);
auth::Mode ReadMode(const Arguments& arguments);

// A problem document as lines for the terminal: its detail and each wrong field, with control
// characters escaped (base/text.h, Visible).
std::string DescribeProblem(std::string_view problem_json);

}  // namespace comanda::commands
