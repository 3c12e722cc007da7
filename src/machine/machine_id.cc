#include "machine/machine_id.h"

#include <cctype>
#include <optional>

#include "base/file.h"
#include "base/problem.h"
#include "base/text.h"
#include "crypto/hash.h"

namespace comanda::machine {
namespace {

constexpr size_t kIdBytes = 16;

int DigitOf(char letter) {
  const auto lower = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return lower <= '9' ? lower - '0' : lower - 'a' + 10;
}

// Nothing where the text is not 32 hexadecimal digits.
std::optional<std::string> BytesOf(std::string_view text) {
  if (text.size() != 2 * kIdBytes) return std::nullopt;
  std::string bytes;
  for (size_t i = 0; i < text.size(); i += 2) {
    for (const char letter : text.substr(i, 2)) {
      if (std::isxdigit(static_cast<unsigned char>(letter)) == 0) return std::nullopt;
    }
    bytes += static_cast<char>(DigitOf(text[i]) * 16 + DigitOf(text[i + 1]));
  }
  return bytes;
}

}  // namespace

std::string DeriveMachineId(std::string_view content) {
  const std::optional<std::string> machine = BytesOf(Trimmed(content));
  // systemd takes an id of zeros for none, too.
  if (!machine || *machine == std::string(kIdBytes, '\0')) return "";
  crypto::Sha256Digest digest = crypto::HmacSha256(*machine, BytesOf(kAppId).value());
  // The form of a UUID of version 4.
  digest[6] = static_cast<uint8_t>((digest[6] & 0x0f) | 0x40);
  digest[8] = static_cast<uint8_t>((digest[8] & 0x3f) | 0x80);
  return crypto::Hex({reinterpret_cast<const char*>(digest.data()), kIdBytes});
}

std::string MachineId() {
  try {
    return DeriveMachineId(ReadFile("/etc/machine-id").value_or(""));
  } catch (const Fault&) {
    return "";
  }
}

}  // namespace comanda::machine
