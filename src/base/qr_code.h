#pragma once

// QR codes (ISO/IEC 18004) for the terminal and for pages. Pure; any thread.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace comanda {

// A square of modules, row by row; true is dark.
struct QrCode {
  int size = 0;
  std::vector<bool> modules;

  // False outside of the square: the quiet zone is light.
  bool IsDark(int x, int y) const;
};

// The smallest code for the text with error correction L, and a higher level where that fits into
// the same size. Nothing if the text is longer than a code can be (2,953 bytes).
std::optional<QrCode> MakeQrCode(std::string_view text);

// The code as lines of half blocks, two rows of modules in a line, with the quiet zone of 4 modules
// that readers need. Light modules are drawn, dark ones are left blank: right for a terminal with
// light text on a dark background. `is_inverted`: the reverse, for dark text on a light background.
std::string QrCodeText(const QrCode& code, bool is_inverted);

// The code as an SVG image with its quiet zone, `pixels` wide and high, black on white.
std::string QrCodeSvg(const QrCode& code, int pixels);

}  // namespace comanda
