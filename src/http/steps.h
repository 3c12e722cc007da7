#pragma once

// The steps of a request, from the row of its route to its answer, in the order of the table kSteps
// (contract section 1, Order of checks). Each step is a function of the visit and can be tested by
// itself. A step that refuses the request throws Refusal: the steps after it do not run, and the
// dispatcher answers with a problem document. A new check of every request that has a route is a
// new row here; OPTIONS and paths without a route are answered before (http/dispatch.cc).

#include <array>
#include <string>

#include "http/visit.h"

namespace comanda::http {

// Admits the caller: credentials, rate, scope (http/caller.h). 401 429 403
void Admit(Visit& visit);

// Refuses an Accept that excludes application/json, on routes that need a key. Malformed members
// are ignored. 406
void CheckAccept(Visit& visit);

// Reads and parses the body, on routes that read one. Blocks until the body has arrived, and where
// it is large until its turn has come (http/body_budget.h). 415 413 411 408 503 400
void ReadBody(Visit& visit);

// Parses the query. 400
void ReadQuery(Visit& visit);

// Prepares the lookup of the Idempotency-Key, on routes that have one (http/idempotency.h). Reads
// the database where the path has a public id. 400
void Remember(Visit& visit);

// Refuses what the disk has no space for; then runs the handler, and puts its answer into the
// exchange. Where the request is refused before the writer has looked up its Idempotency-Key, and
// an answer is recorded for that key, the exchange gets the recorded answer.
void Answer(Visit& visit);

// Turns the answer to a read into 304 where the client has it already; tags it where the handler
// did not.
void Condition(Visit& visit);

// Compresses the answer to a read for a client that prefers that, and where the budget has room for
// both forms.
void Compress(Visit& visit);

// Counts the answer's bytes for the caller until it is sent. The answer to a read is refused where
// there is no room; that to a committed write never is. 503
void Charge(Visit& visit);

using Step = void (*)(Visit& visit);
inline constexpr std::array kSteps = {
    Step{Admit},  Step{CheckAccept}, Step{ReadBody}, Step{ReadQuery}, Step{Remember},
    Step{Answer}, Step{Condition},   Step{Compress}, Step{Charge},
};

// What every answer gets after that, refusals included. These throw nothing but std::bad_alloc.

// The RateLimit header fields; gives the request back to the rate limit where it cost nothing.
void ShowRate(Visit& visit);

// The path as the log shows it: with a star for every segment that is neither a word nor an id, so
// that a key or a phone number in a path is not written down.
std::string PathForLog(const Visit& visit);

}  // namespace comanda::http
