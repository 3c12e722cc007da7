#pragma once

// The one place that turns our errors into problem documents (RFC 9457; contract section 2).

#include <string>
#include <string_view>

#include "base/problem.h"
#include "wire/response.h"

namespace comanda::wire {

struct ProblemRow {
  Problem problem;
  std::string_view code;
  int status;
  std::string_view meaning;  // for the page /problems/<code>: what it means and what to do
};

const ProblemRow& Row(Problem problem);
// By its code; null where there is none.
const ProblemRow* FindRow(std::string_view code);
// "invalid_json" -> "Invalid Json"
std::string Title(std::string_view code);

// `instance` is the path without the query, or "/" where it could not be read.
Response ProblemResponse(const Refusal& refusal, std::string_view errors_base,
                         std::string_view instance, std::string_view request_id);
// For whatever else was thrown: 500 or 503 without internals; what() goes to the log.
Refusal ToRefusal(Fault::Kind kind);

}  // namespace comanda::wire
