#pragma once

// The backup that the command line names, for `comanda restore` and `comanda drill`.

#include <cstdint>
#include <string>

namespace comanda::app {

// The newest schema that this program can open.
int64_t SchemaKnown();

// Of a file; 0 where there is none.
int64_t SizeOf(const std::string& path);

// "/a//" is "/a".
std::string WithoutSlash(std::string path);

}  // namespace comanda::app
