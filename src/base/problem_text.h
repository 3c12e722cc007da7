#pragma once

// What is wrong as a person reads it, in the output of a command: "name must not be empty", where
// a problem document says "name: must not be empty". Any thread.

#include <string>

#include "base/problem.h"

namespace comanda {

// The refusal's detail. Where that is "FIELD: MESSAGE" and the message begins with a verb, without
// the colon.
std::string InWords(const Refusal& refusal);

}  // namespace comanda
