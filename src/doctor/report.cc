#include "doctor/report.h"

#include <algorithm>

#include "base/counted.h"
#include "base/text.h"
#include "base/version.h"
#include "doctor/machine.h"
#include "json/writer.h"

namespace comanda::doctor {
namespace {

constexpr size_t kWidth = 80;
constexpr size_t kStateWidth = 9;  // "WARNING  "
constexpr size_t kCheckWidth = 13;
constexpr size_t kIndent = kStateWidth + kCheckWidth;

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

// Words after `first`, which is as long as the indent of the further lines.
std::string Wrapped(const std::string& first, std::string_view text) {
  std::string out = first;
  size_t column = CharacterCount(first);
  const size_t indent = column;
  for (const std::string_view word : WordsOf(text)) {
    const size_t size = CharacterCount(word);
    if (column > indent && column + 1 + size > kWidth) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    }
    if (column > indent) {
      out += ' ';
      ++column;
    }
    out += word;
    column += size;
  }
  return out + "\n";
}

// Each command in a line of its own, its remark before it where both are too long for one.
std::string Commands(std::string_view text) {
  constexpr std::string_view kRemark = "     # ";
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::string margin(kStateWidth + 2, ' ');
    const size_t remark = line.find(kRemark);
    if (remark != line.npos && margin.size() + CharacterCount(line) > kWidth) {
      out += margin + std::string(line.substr(remark + 5)) + "\n";
      out += margin + std::string(line.substr(0, remark)) + "\n";
    } else {
      out += margin + std::string(line) + "\n";
    }
  }
  return out;
}

std::string Trouble(const Finding& finding) {
  const std::string state = finding.state == State::kBroken ? "BROKEN" : "WARNING";
  const std::string margin(kStateWidth, ' ');
  std::string out =
      Wrapped(Padded(state, kStateWidth) + Padded(finding.check, kCheckWidth), finding.what);
  if (!finding.why.empty()) out += Wrapped(margin + "why: ", finding.why);
  if (!finding.command.empty()) out += margin + "do:\n" + Commands(finding.command);
  return out + "\n";
}

}  // namespace

std::string AsText(const Findings& findings) {
  std::string out;
  size_t counts[3] = {};
  std::string former;
  for (const Finding& finding : findings) {
    ++counts[static_cast<size_t>(finding.state)];
    if (finding.state != State::kWell) {
      out += Trouble(finding);
      continue;
    }
    const bool is_first = finding.check != former;
    out += Wrapped(is_first ? Padded("well", kStateWidth) + Padded(finding.check, kCheckWidth)
                            : std::string(kIndent, ' '),
                   finding.what);
    former = finding.check;
  }
  return out + "\n" + std::to_string(counts[2]) + " broken, " +
         Counted(counts[1], "warning, ", "warnings, ") + std::to_string(counts[0]) + " well\n";
}

std::string AsJson(const Findings& findings, UtcMs at) {
  std::string text;
  json::Writer out(text);
  out.BeginObject().Key("state").Text(Name(Worst(findings))).Key("version").Text(kVersion);
  out.Key("at").Instant(at).Key("findings").Raw(ToJson(findings)).EndObject();
  return text + "\n";
}

}  // namespace comanda::doctor
