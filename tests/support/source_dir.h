#pragma once

// The directory of this repository. Only source_dir.cc is compiled with its path, so that the
// objects of all other tests are equal in every clone and ccache can share them.

#include <string>

namespace comanda::testing {

// Without a slash at its end.
std::string SourceDirectory();

}  // namespace comanda::testing
