#pragma once

// The story of every request, from a framed head to an answer. Knows no socket: http/server calls
// it for connections, app/ for commands in this process.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/line_limit.h"
#include "http/context.h"
#include "http/message.h"
#include "http/route.h"
#include "http/router.h"

namespace comanda::http {

class Dispatcher {
 public:
  // The routes live as long as the dispatcher.
  Dispatcher(Site& site, std::vector<std::span<const Route>> tables);

  // Any thread. Every answer to a key carries the rate headers;
  // every refusal is a problem document. A HEAD is answered like its GET: the server counts the
  // body's bytes and leaves them out. Throws std::bad_alloc where there is not even the memory to
  // say so.
  Response Handle(const Request& request);

  std::span<const Route* const> routes() const { return router_.routes(); }

 private:
  struct Visit;
  Response Answer(Visit& visit);
  static void Fit(Context& context, Response& response);
  Response Options(const Request& request) const;
  std::shared_ptr<const auth::KeyRecord> Identify(const Request& request) const;
  void Admit(Visit& visit, const Route& route);
  void ReadBody(Context& context) const;
  void RequireSpace(const Route& route) const;
  void ReadIdempotencyKey(Context& context) const;
  Response AnswerOnce(Context& context) const;
  void Decorate(Visit& visit, Response& response);
  void Note(const Visit& visit, const Response& response);

  Site& site_;
  Router router_;
  std::array<std::unique_ptr<metrics::Counter>, 4> answers_;  // 2xx to 5xx
  metrics::Histogram durations_;
  LineLimit unauthenticated_lines_{10, 10'000};
};

}  // namespace comanda::http
