#include "http/tags.h"

#include <gtest/gtest.h>

namespace comanda::http {
namespace {

TEST(HttpTags, ReadsTagsAndLists) {
  const auto list = ReadTags(R"( "3.1" , W/"4", "a,b" )");
  ASSERT_TRUE(list);
  ASSERT_EQ(list->tags.size(), 3u);
  EXPECT_EQ(list->tags[0].opaque, "3.1");
  EXPECT_FALSE(list->tags[0].weak);
  EXPECT_TRUE(list->tags[1].weak);
  EXPECT_EQ(list->tags[2].opaque, "a,b");
}

TEST(HttpTags, ReadsTheStar) {
  EXPECT_TRUE(ReadTags("*")->any);
  EXPECT_FALSE(ReadTags("\"*\"")->any);
}

TEST(HttpTags, RefusesWhatIsNoTag) {
  for (const char* text :
       {"", " ", "3", "\"3", "w/\"3\"", "\"3\" \"4\"", "\"3\",", ",\"3\"", "*, \"3\""}) {
    EXPECT_FALSE(ReadTags(text)) << text;
  }
}

}  // namespace
}  // namespace comanda::http
