#include "wire/response_writer.h"

#include <gtest/gtest.h>

#include <string>

namespace comanda::wire {
namespace {

constexpr UtcMs kEvening = 1'795'197'791'204;  // 2026-11-20T18:03:11.204Z

std::string Wire(const Response& response, WireForm form = {}) {
  form.now = kEvening;
  std::string out;
  AppendResponse(out, response, form);
  return out;
}

bool Has(const std::string& wire, const std::string& line) {
  return wire.find("\r\n" + line + "\r\n") != std::string::npos;
}

TEST(WireResponseWriter, LeavesTheRestOfALargeBodyWhereItIs) {
  Response response;
  response.body = std::string(10'000, 'a') + std::string(10'000, 'b');
  std::string first;

  const std::string_view rest =
      AppendResponse(first, response, {.now = kEvening, .bytes_max = 16'384});

  EXPECT_EQ(first.size(), 16'384u);
  EXPECT_EQ(first + std::string(rest), Wire(response));
  EXPECT_EQ(rest.data() + rest.size(), response.body.data() + response.body.size());
  EXPECT_TRUE(AppendResponse(first, response, {.omit_body = true, .bytes_max = 10}).empty());
}

TEST(WireResponseWriter, PutsHeadAndBodyIntoOneMessage) {
  Response response;
  response.body = R"({"data":1})";
  response.etag = "W/\"7\"";

  EXPECT_EQ(Wire(response, {.request_id = "r1"}),
            "HTTP/1.1 200 OK\r\n"
            "Date: Fri, 20 Nov 2026 18:03:11 GMT\r\n"
            "Content-Type: application/json\r\n"
            "Content-Length: 10\r\n"
            "Cache-Control: private, no-cache\r\n"
            "ETag: W/\"7\"\r\n"
            "API-Version: v0\r\n"
            "X-Request-Id: r1\r\n"
            "X-Content-Type-Options: nosniff\r\n"
            "\r\n"
            "{\"data\":1}");
}

TEST(WireResponseWriter, TellsTheLengthOfAHeadButSendsNoBody) {
  Response response;
  response.body = "12345";

  const std::string wire = Wire(response, {.omit_body = true});

  EXPECT_TRUE(Has(wire, "Content-Length: 5"));
  EXPECT_TRUE(wire.ends_with("\r\n\r\n"));
}

TEST(WireResponseWriter, GivesNoContentTo204And304) {
  for (const int status : {204, 304}) {
    Response response;
    response.status = status;
    response.body = "never sent";
    response.etag = "\"1\"";

    const std::string wire = Wire(response);

    EXPECT_TRUE(wire.ends_with("\r\n\r\n"));
    EXPECT_EQ(wire.find("Content-Length"), std::string::npos);
    EXPECT_EQ(wire.find("Content-Type:"), std::string::npos);
    EXPECT_TRUE(Has(wire, "ETag: \"1\""));
  }
}

TEST(WireResponseWriter, AnnouncesTheLastAnswer) {
  EXPECT_TRUE(Has(Wire({}, {.close = true}), "Connection: close"));
  EXPECT_FALSE(Has(Wire({}), "Connection: close"));
}

TEST(WireResponseWriter, WritesLocationAndCache) {
  Response response;
  response.status = 201;
  response.location = "/v1/orders/1";
  response.cache = Cache::kNoStore;

  const std::string wire = Wire(response);

  EXPECT_TRUE(wire.starts_with("HTTP/1.1 201 Created\r\n"));
  EXPECT_TRUE(Has(wire, "Location: /v1/orders/1"));
  EXPECT_TRUE(Has(wire, "Cache-Control: no-store"));
}

TEST(WireResponseWriter, LetsNoValueBeginALineOfItsOwn) {
  Response response;
  response.location = "/a\r\nSet-Cookie: x";

  EXPECT_TRUE(Has(Wire(response), "Location: /aSet-Cookie: x"));
}

TEST(WireResponseWriter, FormatsDates) {
  EXPECT_EQ(HttpDate(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(HttpDate(951'827'696'789), "Tue, 29 Feb 2000 12:34:56 GMT");
}

}  // namespace
}  // namespace comanda::wire
