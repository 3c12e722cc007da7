#include "commands/key_flags.h"

#include "auth/scopes.h"
#include "base/problem.h"
#include "base/text.h"

namespace comanda::commands {

std::string RequireFlag(const Arguments& arguments, std::string_view command,
                        std::string_view flag) {
  auto value = arguments.Find(flag);
  if (value) return *std::move(value);
  throw Refusal(Problem::kInvalidParameter, "--" + std::string(flag) + " is needed; see comanda " +
                                                std::string(command) + " --help");
}

std::vector<std::string> ScopeList(std::string_view list, bool with_managing) {
  std::vector<std::string> names;
  while (!list.empty()) {
    const std::string_view word = TakePiece(list, ',');
    if (word != "all") {
      if (!word.empty()) names.emplace_back(word);
      continue;
    }
    for (const auth::ScopeRow& row : auth::kScopes) {
      const bool is_left_out =
          row.scope == auth::Scope::kOrdersSync || (!with_managing && auth::IsLocalOnly(row.scope));
      if (!is_left_out) names.emplace_back(row.name);
    }
  }
  return names;
}

std::string DescribeScopes() {
  std::string out;
  for (const auth::ScopeRow& row : auth::kScopes) {
    std::string line = "  " + std::string(row.name);
    line.resize(24, ' ');
    out += line + std::string(row.permits) + "\n";
  }
  return out;
}

}  // namespace comanda::commands
