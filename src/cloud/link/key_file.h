#pragma once

// DIR/cloud.key: the API key for the cloud, in a file of its own with mode 0600. It is never in the
// database, a log or a backup, so that a stolen backup opens no cloud; a restored box has to be
// given its key again (`comanda cloud link`).
//
// Functions throw Fault on an I/O error. Any thread.

#include <optional>
#include <string>
#include <string_view>

namespace comanda::cloud {

// Nothing where there is no file, or it is empty.
std::optional<std::string> ReadKey(const std::string& data_directory);
void WriteKey(const std::string& data_directory, std::string_view key);
void RemoveKey(const std::string& data_directory);

}  // namespace comanda::cloud
