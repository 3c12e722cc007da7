#pragma once

// How the command line acts: through the same handlers as everyone (design section 4). While the
// daemon runs, over its control socket; when the data directory is free, in this process.

#include <string>
#include <string_view>

#include "app/arguments.h"
#include "auth/key.h"
#include "config/options.h"

namespace comanda::app {

struct ControlCall {
  auth::Mode mode = auth::Mode::kLive;
  std::string method;
  std::string path;        // with its query
  std::string company_id;  // UUID; empty: the only one
  std::string body;        // JSON, or empty
  bool may_begin = false;  // a directory and a database where there are none
};

struct ControlAnswer {
  int status = 0;
  std::string body;
};

// Refusal where there is no database and the call may not begin one. Fault where neither the daemon
// nor the directory can be used, with what to do.
ControlAnswer CallControl(const config::Options& options, const ControlCall& call);

// Refusal where it does not exist: a mistyped directory is not to look like an empty restaurant.
void RequireDatabase(const std::string& path);

// --data and --env of a command that acts through the control socket.
config::Options ReadControlOptions(const Arguments& arguments);
auth::Mode ReadMode(const Arguments& arguments);

// Lines for a technician out of a problem document: its detail and every wrong field, for the
// terminal (base/text.h, Visible).
std::string DescribeProblem(std::string_view problem_json);

}  // namespace comanda::app
