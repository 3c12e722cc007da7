#pragma once

#include <string>

namespace comanda::db {

// Inode and birth time of a file as opaque text of two words; empty if the file cannot be examined.
std::string FileIdentity(const std::string& path);

}  // namespace comanda::db
