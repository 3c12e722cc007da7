#pragma once

// One request on its way through the steps of http/steps.h: what each step has found out, for the
// steps after it. A step fills in its own members and reads those of the steps before. Lives on the
// stack of the request's thread, and is used by it alone; what is leased or claimed for the request
// ends with it.

#include <chrono>

#include "http/answer_budget.h"
#include "http/caller.h"
#include "http/context.h"
#include "http/idempotency.h"
#include "http/site.h"
#include "wire/exchange.h"

namespace comanda::http {

struct Visit {
  Visit(Site& of, wire::Exchange& with) : site(of), exchange(with) {}

  Site& site;
  wire::Exchange& exchange;  // request and response
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();

  Asked asked;                 // by the router, ReadBody() and ReadQuery()
  Caller caller;               // by Admit()
  AnswerBudget::Lease lease;   // by Admit(): the answer's bytes in the budget
  idempotency::Memory memory;  // by Remember()
  bool costs_nothing = false;  // by Answer(): http::Response::costs_nothing
};

}  // namespace comanda::http
