#include "base/qr_code.h"

#include <array>
#include <cstdint>

#include "base/concat.h"

#include "qrcodegen.h"

namespace comanda {
namespace {

constexpr int kQuiet = 4;

}  // namespace

bool QrCode::IsDark(int x, int y) const {
  if (x < 0 || y < 0 || x >= size || y >= size) return false;
  return modules[static_cast<size_t>(y) * static_cast<size_t>(size) + static_cast<size_t>(x)];
}

std::optional<QrCode> MakeQrCode(std::string_view text) {
  std::array<uint8_t, qrcodegen_BUFFER_LEN_MAX> code;
  std::array<uint8_t, qrcodegen_BUFFER_LEN_MAX> work;
  if (!qrcodegen_encodeText(std::string(text).c_str(), work.data(), code.data(), qrcodegen_Ecc_LOW,
                            qrcodegen_VERSION_MIN, qrcodegen_VERSION_MAX, qrcodegen_Mask_AUTO,
                            true)) {
    return std::nullopt;
  }
  QrCode made{.size = qrcodegen_getSize(code.data()), .modules = {}};
  for (int y = 0; y < made.size; ++y) {
    for (int x = 0; x < made.size; ++x) {
      made.modules.push_back(qrcodegen_getModule(code.data(), x, y));
    }
  }
  return made;
}

std::string QrCodeText(const QrCode& code, bool is_inverted) {
  // By upper and lower half: neither, the lower, the upper, both are drawn.
  constexpr std::array<std::string_view, 4> kBlocks = {" ", "\u2584", "\u2580", "\u2588"};
  const auto is_drawn = [&](int x, int y) { return code.IsDark(x, y) == is_inverted; };
  std::string text;
  for (int y = -kQuiet; y < code.size + kQuiet; y += 2) {
    for (int x = -kQuiet; x < code.size + kQuiet; ++x) {
      text += kBlocks[(is_drawn(x, y) ? 2u : 0u) + (is_drawn(x, y + 1) ? 1u : 0u)];
    }
    text += '\n';
  }
  return text;
}

std::string QrCodeSvg(const QrCode& code, int pixels) {
  const int side = code.size + 2 * kQuiet;
  std::string svg = Concat({R"(<svg xmlns="http://www.w3.org/2000/svg" width=")", pixels,
                            R"(" height=")", pixels, R"(" viewBox="0 0 )", side, " ", side,
                            R"(" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h)", side,
                            "v", side, "H0z\"/><path d=\""});
  for (int y = 0; y < code.size; ++y) {
    for (int x = 0; x < code.size; ++x) {
      if (code.IsDark(x, y)) svg += Concat({"M", x + kQuiet, " ", y + kQuiet, "h1v1h-1z"});
    }
  }
  return svg + "\"/></svg>";
}

}  // namespace comanda
