#pragma once

// openapi.json as HTML, for the page /docs: the whole document but the examples of answers,
// readable without a script. docs.js adds to it what is interactive.

#include <string>

#include "json/reader.h"

namespace comanda::web {

// One line: what the API is, and its version.
std::string EditionHtml(const json::Document& openapi);

// Sections, each with an id: about; tag-<tag> with its operations, <details id="<operationId>">;
// parameters (parameter-<component>), headers, answers (answer-<component>): those that operations
// share; scopes (scope-<name>); schemas (schema-<component>). Fault kInternal where the document
// lacks what every OpenAPI document has.
std::string ReferenceHtml(const json::Document& openapi);

}  // namespace comanda::web
