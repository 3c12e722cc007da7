#pragma once

// How the readers of the cloud's records ask it: one request at a time, at the pace, and never
// before the steps of orders that are being served (contract section 15.8). cloud/syncer.cc
// implements it.

#include "cloud/link/client.h"

namespace comanda::cloud {

// Thrown by Line::Ask() where no more can be asked now: the cloud cannot be reached, refuses the
// key or a scope, is busy, or the worker is to end. What a reader has stored so far stays; it goes
// on from there when it is called again. No std::exception, so that handlers of those let it
// through.
struct Interrupted {};

class Line {
 public:
  virtual ~Line() = default;

  // Waits for the pace, sends the steps of present orders that wait meanwhile, then the request.
  // The answer is kOk, kNotModified, kRefused (its status and problem tell), or kLater where it is
  // unusable (Reachability::kUnusable): the caller then gives up this reading until it is due
  // again. The worker's thread.
  virtual Reply Ask(const Request& request) = 0;
};

}  // namespace comanda::cloud
