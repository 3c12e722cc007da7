#pragma once

// Values of an answer, as commands print them. Pure.

#include <string>
#include <string_view>

#include "json/reader.h"

namespace comanda::commands {

// The member `data` of the answer's document, which every answer of the API has.
json::Value DataOf(const json::Document& document);
// A text or number as it is shown on a terminal; "-" where it is missing or null.
std::string Field(const json::Value& object, std::string_view name);
bool IsTrue(const json::Value& object, std::string_view name);

}  // namespace comanda::commands
