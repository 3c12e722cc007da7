#pragma once

#include <cstddef>
#include <string_view>

#include "json/reader.h"

namespace comanda::app {

// The line of the document on which the field of that path stands ("companies[0].name"); where the
// field itself is missing, the line on which its object begins. Counts from 1.
size_t LineOf(const json::Document& document, std::string_view text, std::string_view path);

}  // namespace comanda::app
