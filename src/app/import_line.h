#pragma once

// Finds the line of a document to which an error message refers. Pure.

#include <cstddef>
#include <string_view>

#include "json/reader.h"

namespace comanda::app {

// The line of the field with that path ("companies[0].name"), counted from 1. If the field is
// missing: the line on which the nearest object above it begins.
size_t LineOf(const json::Document& document, std::string_view text, std::string_view path);

}  // namespace comanda::app
