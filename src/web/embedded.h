#pragma once

// The files of src/web, embedded in the program: scripts/embed.cmake generates the source. The
// views are valid for the life of the process.

#include <string_view>

namespace comanda::web {

std::string_view OpenapiJson();
// The same, compressed at build time by gzip.
std::string_view OpenapiJsonGzip();
// With the placeholders {{style}}, {{tools}}, {{edition}}, {{reference}} and {{script}}.
std::string_view DocsHtml();
std::string_view DocsCss();
std::string_view DocsJs();
// /docs/tools.js is both, one after the other.
std::string_view ProgramsJs();
std::string_view TryingJs();
// For web/pages.cc; with placeholders.
std::string_view PagesCss();
std::string_view HomeHtml();
std::string_view SetupHtml();
std::string_view SetupTrustHtml();
std::string_view SetupOwnerHtml();

}  // namespace comanda::web
