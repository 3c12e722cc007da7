#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/problem.h"
#include "base/text.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/control.h"
#include "commands/embedded.h"
#include "commands/terminal.h"
#include "json/reader.h"

namespace comanda::commands {
namespace {

constexpr std::array kFlags = {
    kDataFlag,    Flag{"env", "live|test", "of the live address (default) or of the sandbox"},
    kCompanyFlag, Flag{"page", "N", "older entries: a page holds 100, the first is the newest"},
    kJsonFlag,    kHelpFlag,
};

std::string Padded(std::string_view text, size_t width) {
  std::string padded(text);
  padded.resize(std::max(padded.size(), width), ' ');
  return padded;
}

// Name, tier and scopes of the key after the change.
std::string Described(const json::Value& detail) {
  const auto name = detail.Find("name");
  const auto tier = detail.Find("tier");
  const auto scopes = detail.Find("scopes");
  if (!name || !tier || !scopes) return "";
  std::string text = "\"" + Visible(name->text()) + "\"  " + Visible(tier->text()) + "  ";
  for (const json::Value& scope : scopes->items()) {
    if (!text.ends_with(' ')) text += ',';
    text += Visible(scope.text());
  }
  return text;
}

std::string Line(const json::Value& entry) {
  const auto text = [&](std::string_view name) { return Visible(entry.Find(name)->text()); };
  return text("at") + "  " + Padded(text("actor"), 5) + "  " + Padded(text("action"), 12) + "  " +
         text("subject_id") + "  " + Described(*entry.Find("detail")) + "\n";
}

int64_t ReadPage(const Arguments& arguments) {
  const std::string text = arguments.Find("page").value_or("1");
  int64_t page = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), page);
  if (error != std::errc() || end != text.data() + text.size() || page < 1) {
    throw Refusal(Problem::kInvalidParameter, "--page is a whole number from 1");
  }
  return page;
}

}  // namespace

int ShowAudit(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, AuditHelp());
  if (!arguments) return kExitDone;
  RequireOptionsAlone(*arguments, "audit");
  const int64_t page = ReadPage(*arguments);
  const ControlAnswer answer =
      CallControl(ReadControlOptions(*arguments),
                  {.mode = ReadMode(*arguments),
                   .method = "GET",
                   .path = "/control/audit?per_page=100&page=" + std::to_string(page),
                   .company_uuid = arguments->Find("company").value_or(""),
                   .body = {}});
  if (answer.status != 200) {
    PrintError(DescribeProblem(answer.body));
    return kExitRefused;
  }
  if (arguments->Has("json")) {
    Print(answer.body + "\n");
    return kExitDone;
  }
  const json::Document document = json::Document::Parse(answer.body);
  for (const json::Value& entry : document.root().Find("data")->items()) Print(Line(entry));
  if (document.root().Find("pagination")->Find("has_more")->boolean()) {
    Print("… older entries: --page " + std::to_string(page + 1) + "\n");
  }
  return kExitDone;
}

}  // namespace comanda::commands
