#include "backups/mount_table.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/file.h"
#include "base/text.h"

namespace comanda::backups {
namespace {

constexpr std::string_view kMark = "x-comanda.backup";

struct Kind {
  std::string_view type;
  bool has_owners;
  int check_order;  // the sixth word of a line: 2 is checked at the start, 0 never
};
// A file system with a journal that its own mount repairs needs no check at the start.
constexpr std::array kKinds = {
    Kind{"ext4", true, 2},  Kind{"ext3", true, 2}, Kind{"ext2", true, 2},   Kind{"xfs", true, 0},
    Kind{"btrfs", true, 0}, Kind{"f2fs", true, 0}, Kind{"exfat", false, 0}, Kind{"vfat", false, 0},
};

const Kind* FindKind(std::string_view type) {
  const auto found = std::ranges::find(kKinds, type, &Kind::type);
  return found == kKinds.end() ? nullptr : &*found;
}

// The next word of a line between blanks and tabs; empty at its end.
std::string_view TakeWord(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t begin = std::min(line.find_first_not_of(kBlanks), line.size());
  line.remove_prefix(begin);
  const size_t end = std::min(line.find_first_of(kBlanks), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

bool IsOctal(std::string_view digits) {
  return digits.size() == 3 &&
         std::ranges::all_of(digits, [](char c) { return c >= '0' && c < '8'; });
}

// "/media/my\040disk" is "/media/my disk".
std::string Decoded(std::string_view word) {
  std::string out;
  while (!word.empty()) {
    if (word.front() == '\\' && IsOctal(word.substr(1, 3))) {
      out += static_cast<char>((word[1] - '0') * 64 + (word[2] - '0') * 8 + (word[3] - '0'));
      word.remove_prefix(4);
    } else {
      out += word.front();
      word.remove_prefix(1);
    }
  }
  return out;
}

std::optional<MountLine> ParseLine(std::string_view line) {
  const std::string_view source = TakeWord(line);
  const std::string_view point = TakeWord(line);
  if (source.empty() || source.front() == '#' || point.empty()) return std::nullopt;
  const std::string_view type = TakeWord(line);
  return MountLine{.source = Decoded(source),
                   .point = WithoutSlash(Decoded(point)),
                   .type = std::string(type),
                   .options = std::string(TakeWord(line))};
}

}  // namespace

bool MountLine::HasOption(std::string_view option) const {
  std::string_view rest = options;
  while (!rest.empty()) {
    if (TakePiece(rest, ',') == option) return true;
  }
  return false;
}

bool MountLine::IsOurs() const { return HasOption(kMark); }

std::vector<MountLine> MountLines(std::string_view table) {
  std::vector<MountLine> lines;
  while (!table.empty()) {
    if (auto line = ParseLine(TakePiece(table, '\n'))) lines.push_back(*std::move(line));
  }
  return lines;
}

bool KnowsType(std::string_view type) { return FindKind(type) != nullptr; }

std::string KnownTypes() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.type);
  return JoinedByCommas(names);
}

bool IsWithoutOwners(std::string_view type) {
  const Kind* kind = FindKind(type);
  return kind != nullptr && !kind->has_owners;
}

std::string LineFor(const MountedAs& disk) {
  const Kind* kind = FindKind(disk.type);
  std::string options = "nofail,noatime,nodev,nosuid";
  if (kind != nullptr && !kind->has_owners) {
    // No x among the modes of files: where umask= leaves it, setting the mode 0600 is refused.
    options += ",uid=" + std::to_string(disk.user) + ",gid=" + std::to_string(disk.group) +
               ",dmask=0077,fmask=0177";
  }
  return "UUID=" + disk.uuid + " " + disk.point + " " + disk.type + " " + options + "," +
         std::string(kMark) + " 0 " + std::to_string(kind == nullptr ? 0 : kind->check_order);
}

std::string WithLine(std::string_view table, std::string_view line) {
  std::string out(table);
  if (!out.empty() && out.back() != '\n') out += '\n';
  out += line;
  return out + "\n";
}

std::string WithoutOurLine(std::string_view table, std::string_view point) {
  std::string out;
  while (!table.empty()) {
    const size_t end = table.find('\n');
    const std::string_view whole = table.substr(0, end == table.npos ? end : end + 1);
    table.remove_prefix(whole.size());
    const auto line = ParseLine(whole.substr(0, whole.find('\n')));
    if (line && line->IsOurs() && line->point == point) continue;
    out += whole;
  }
  return out;
}

}  // namespace comanda::backups
