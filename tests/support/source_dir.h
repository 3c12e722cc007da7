#pragma once

// The directory of this repository. Only source_dir.cc is compiled with its name: the objects of
// all other tests are the same in every clone, and ccache shares them.

#include <string>

namespace comanda::testing {

// Without a slash at its end.
std::string SourceDirectory();

}  // namespace comanda::testing
