#pragma once

// Problem documents (RFC 9457; contract section 2): how a Refusal or a Fault becomes an answer.
// Each kind of problem has one row, with its code and status; web/problems.json has what it means.

#include <string>
#include <string_view>

#include "base/problem.h"
#include "wire/response.h"

namespace comanda::wire {

struct ProblemRow {
  Problem problem;
  std::string_view code;
  int status;
};

const ProblemRow& Row(Problem problem);
// The row with that code; null where there is none.
const ProblemRow* FindRow(std::string_view code);
// The title of a code: "Invalid Json" for "invalid_json".
std::string Title(std::string_view code);

// The answer to a refused request; its Link leads to the page /problems/<code>. `errors_base` is
// the URL that the document's `type` begins with; `instance` is the path without the query, or "/"
// where the path could not be read.
Response ProblemResponse(const Refusal& refusal, std::string_view errors_base,
                         std::string_view instance, std::string_view request_id);
// The answer to a fault: 500 or 503, without the cause, which belongs into the log.
Refusal ToRefusal(Fault::Kind kind);

}  // namespace comanda::wire
