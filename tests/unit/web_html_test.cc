#include "web/html.h"

#include <gtest/gtest.h>

namespace comanda::web {
namespace {

TEST(WebHtml, MarksCodeAndWhatIsStrong) {
  EXPECT_EQ(Inline("**Keys.** Send `<key>`."),
            "<strong>Keys.</strong> Send <code>&lt;key&gt;</code>.");
  EXPECT_EQ(Inline("`****` masks"), "<code>****</code> masks");
}

TEST(WebHtml, LeavesMarksThatDoNotEnd) { EXPECT_EQ(Inline("5 ** 2 and a `"), "5 ** 2 and a `"); }

TEST(WebHtml, LinksAddressesWithoutTheSentencesPunctuation) {
  EXPECT_EQ(Inline("(https://a.example/b?c=1&d)."),
            "(<a href=\"https://a.example/b?c=1&amp;d\">https://a.example/b?c=1&amp;d</a>).");
  EXPECT_EQ(Inline("see https://a.example: now"),
            "see <a href=\"https://a.example\">https://a.example</a>: now");
}

TEST(WebHtml, MakesParagraphsAndLists) {
  EXPECT_EQ(Prose("One.\n\n- `a`: first.\n- second.\n\nTwo."),
            "<p>One.</p><ul><li><code>a</code>: first.</li><li>second.</li></ul><p>Two.</p>");
  EXPECT_EQ(Prose(""), "");
}

}  // namespace
}  // namespace comanda::web
