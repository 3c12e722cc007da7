#include <array>
#include <string>

#include "base/file.h"
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
    kDataFlag,
    Flag{"env", "live|test", "into the live database (default) or the sandbox's"},
    Flag{"new-company", "", "another restaurant beside those that are here"},
    kHelpFlag,
};

// The document to send. For the demo restaurant, which the server contains: the text "demo".
std::string Document(const std::string& file) {
  if (file == "demo") return R"("demo")";
  auto text = ReadFile(file);
  if (!text) throw Refusal(Problem::kNotFound, "there is no file " + file);
  if (text->starts_with("\xFF\xFE") || text->starts_with("\xFE\xFF")) {
    throw Refusal(Problem::kInvalidJson, file + " is UTF-16: save it as UTF-8");
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // Windows' editors write it
  if (text->starts_with(kByteOrderMark)) text->erase(0, kByteOrderMark.size());
  return *std::move(text);
}

// What the file leaves out stays; a renamed product would stand there twice.
std::string DescribeLeftOut(const json::Value& company) {
  const std::string count(company.Find("left_out")->number_text());
  if (count == "0") return "";
  std::string out = "  " + count +
                    " of the menu's products are not in this file and stay as they are. To hide "
                    "one, import it with\n  \"visible\": false; one that was renamed stands there "
                    "twice: give its row in the file the id below.\n";
  for (const json::Value& product : company.Find("left_out_products")->items()) {
    out += "    " + Visible(product.Find("id")->text()) + "  " +
           Visible(product.Find("name")->text()) + " (" +
           Visible(product.Find("category_name")->text()) + ")\n";
  }
  return out;
}

void PrintSummary(std::string_view answer) {
  const json::Document document = json::Document::Parse(answer);
  for (const json::Value& company : document.root().Find("data")->items()) {
    std::string out =
        Visible(company.Find("name")->text()) + "  " + Visible(company.Find("id")->text()) + "\n";
    for (const json::Value& counts : company.Find("counts")->items()) {
      std::string line = "  " + Visible(counts.Find("kind")->text());
      line.resize(24, ' ');
      out += line + std::string(counts.Find("inserted")->number_text()) + " new, " +
             std::string(counts.Find("updated")->number_text()) + " changed, " +
             std::string(counts.Find("unchanged")->number_text()) + " as before\n";
    }
    Print(out + DescribeLeftOut(company));
  }
}

}  // namespace

int ImportFile(Words words) {
  const std::optional<Arguments> arguments = ReadArguments(words, kFlags, ImportHelp());
  if (!arguments) return kExitDone;
  if (arguments->positional().size() != 1) {
    throw Refusal(Problem::kInvalidParameter,
                  "name one file, or `demo`: comanda import FILE --data DIR");
  }
  const std::string& file = arguments->positional().front();
  const ControlAnswer answer =
      CallControl(ReadControlOptions(*arguments),
                  {.mode = ReadMode(*arguments),
                   .method = "POST",
                   .path = arguments->Has("new-company") ? "/control/import?new_company=true"
                                                         : "/control/import",
                   .company_uuid = {},
                   .body = Document(file),
                   .may_begin = true});
  if (answer.status != 200) {
    PrintError(Visible(file) + ": " + DescribeProblem(answer.body));
    return kExitRefused;
  }
  PrintSummary(answer.body);
  return kExitDone;
}

}  // namespace comanda::commands
