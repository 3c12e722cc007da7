#pragma once

// The identity of the machine: an id that is derived from /etc/machine-id, which itself is not to
// leave the machine (machine-id(5)). Any thread.

#include <string>
#include <string_view>

namespace comanda::machine {

// As sd_id128_get_machine_app_specific() and `systemd-id128 machine-id --app-specific=` make it
// for kAppId: 32 hexadecimal digits. Empty where the file is missing or holds no id.
std::string MachineId();

// The id of this program in that derivation.
inline constexpr std::string_view kAppId = "5d1b8e0c6f4a4c0f9a7e2b3d6c8f1e42";

// The derivation. `content` is that of the file; empty for content that is no id.
std::string DeriveMachineId(std::string_view content);

}  // namespace comanda::machine
