#pragma once

// Runs every request: finds the row of its route, runs the steps (http/steps.h), and turns what
// they throw into a problem document. Knows no socket: the server calls it for connections, app/
// for commands in this process.

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "base/line_limit.h"
#include "base/metrics.h"
#include "base/problem.h"
#include "http/route.h"
#include "http/router.h"
#include "http/site.h"
#include "http/visit.h"
#include "wire/exchange.h"

namespace comanda::http {

class Dispatcher {
 public:
  // Site and tables outlive the dispatcher.
  Dispatcher(Site& site, std::vector<std::span<const Route>> tables);

  // Answers the request: fills in exchange.response. A HEAD is answered like its GET; the server
  // leaves the body out. Thread-safe. Blocks as the handler does. Throws std::bad_alloc at most.
  void Handle(wire::Exchange& exchange);

 private:
  void Run(Visit& visit) const;
  void AnswerOptions(wire::Exchange& exchange) const;
  static void Refuse(Visit& visit, const Refusal& refusal);
  void Finish(Visit& visit);
  void NoteLooker(const Visit& visit);
  void Note(const Visit& visit);

  Site& site_;
  Router router_;
  std::array<std::unique_ptr<metrics::Counter>, 4> answers_;  // 2xx to 5xx
  metrics::Histogram durations_;
  LineLimit unauthenticated_lines_{10, 10'000};
};

}  // namespace comanda::http
