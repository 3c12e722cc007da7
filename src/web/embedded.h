#pragma once

// The files of src/web, embedded in the program: scripts/embed.cmake generates the source. The
// views are valid for the life of the process. Any thread; nothing is thrown.
//
// A placeholder is a name in double braces. The code that serves the page replaces it, and ends the
// process where the page lacks it (CHECK): the files are part of the program.

#include <string_view>

namespace comanda::web {

// The document of the whole API, written by hand.
std::string_view OpenapiJson();
// The same, compressed at build time by gzip.
std::string_view OpenapiJsonGzip();
// With the placeholders {{style}}, {{tools}}, {{edition}}, {{reference}} and {{script}}.
std::string_view DocsHtml();
std::string_view DocsCss();
// The search of the page /docs, which is all that it needs at first.
std::string_view DocsJs();
// /docs/tools.js is both, one after the other.
std::string_view ProgramsJs();
std::string_view ReceiversJs();
std::string_view TryingJs();
// The programs of /docs/programs.
std::string_view TillPy();
std::string_view OfflineTillKt();
// The kitchen display: script and style are bundled from TypeScript and Preact when the program is
// built.
std::string_view KitchenHtml();
std::string_view KitchenJs();
std::string_view KitchenCss();
std::string_view KitchenManifest();
std::string_view WorkerJs();
// The name mark, also the icon of each page.
std::string_view MarkSvg();
// For web/pages.cc; with placeholders.
std::string_view PagesCss();
std::string_view HomeEnHtml();
std::string_view HomeEsHtml();
std::string_view HomePtHtml();
std::string_view SetupEnHtml();
std::string_view SetupEsHtml();
std::string_view SetupPtHtml();
std::string_view SetupTrustEnHtml();
std::string_view SetupTrustEsHtml();
std::string_view SetupTrustPtHtml();
std::string_view SetupOwnerEnHtml();
std::string_view SetupOwnerEsHtml();
std::string_view SetupOwnerPtHtml();
std::string_view TextPageHtml();
// What each problem means and what to do: {code: {"en": …, "es": …, "pt": …}}.
std::string_view ProblemsJson();

}  // namespace comanda::web
