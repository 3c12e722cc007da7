#include "wire/head.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "wire/problem.h"

namespace comanda::wire {
namespace {

// The problem a head is refused with, and what could be read of it.
struct Verdict {
  std::optional<Problem> problem;
  std::string path;
};

Verdict Judge(const std::string& text) {
  Head head;
  Verdict verdict;
  try {
    CheckHead(text, head);
  } catch (const Refusal& refusal) {
    verdict.problem = refusal.problem;
    EXPECT_TRUE(refusal.close_connection) << text;
  }
  verdict.path = head.path;
  return verdict;
}

std::string With(const std::string& fields) {
  return "POST /v1/orders HTTP/1.1\r\nHost: box\r\n" + fields + "\r\n";
}

std::string Line(const std::string& request_line) { return request_line + "\r\nHost: box\r\n\r\n"; }

void ExpectRefused(const std::string& text, Problem problem) {
  const Verdict verdict = Judge(text);
  ASSERT_TRUE(verdict.problem.has_value()) << text.substr(0, 200);
  EXPECT_EQ(Row(*verdict.problem).code, Row(problem).code) << text.substr(0, 200);
}

void ExpectAccepted(const std::string& text) {
  const Verdict verdict = Judge(text);
  EXPECT_FALSE(verdict.problem.has_value()) << text.substr(0, 200);
}

TEST(WireHead, ReadsEveryPartOfASoundHead) {
  const std::string text =
      "PUT /v1/orders/a%2Fb?page=2&x=%41 HTTP/1.1\r\nHost: Box.Local:8443\r\nContent-Length: 12\r\n"
      "X-Empty:\r\nX-Padded:   two words  \r\n\r\n";
  Head head;

  CheckHead(text, head);

  EXPECT_EQ(head.method, Method::kPut);
  EXPECT_EQ(head.path, "/v1/orders/a%2Fb");
  EXPECT_EQ(head.query, "page=2&x=%41");
  EXPECT_EQ(head.host, "Box.Local");
  EXPECT_EQ(head.length, 12u);
  EXPECT_FALSE(head.chunked);
  EXPECT_TRUE(head.keeps_alive);
  ASSERT_EQ(head.headers.size(), 4u);
  EXPECT_EQ(head.headers[2].second, "");
  EXPECT_EQ(head.headers[3].second, "two words");
}

TEST(WireHead, ForgetsThePreviousHead) {
  Head head;
  CheckHead(
      "POST /a?b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n",
      head);
  ASSERT_TRUE(head.chunked && head.expects_continue);

  CheckHead("GET /c HTTP/1.1\r\nHost: y\r\n\r\n", head);

  EXPECT_FALSE(head.chunked || head.expects_continue);
  EXPECT_EQ(head.query, "");
  EXPECT_EQ(head.host, "y");
  EXPECT_EQ(head.headers.size(), 1u);
}

TEST(WireHead, RefusesBareLineFeedsAndCarriageReturns) {
  ExpectRefused("GET / HTTP/1.1\nHost: box\n\n", Problem::kInvalidHeader);
  ExpectRefused("GET / HTTP/1.1\r\nHost: box\nX: y\r\n\r\n", Problem::kInvalidHeader);
  ExpectRefused("GET / HTTP/1.1\r\nHost: box\rX: y\r\n\r\n", Problem::kInvalidHeader);
  ExpectRefused("GET / HTTP/1.1\r\nHost: box\r\n\n", Problem::kInvalidHeader);
}

TEST(WireHead, RefusesFoldedFieldsAndBlanksBeforeTheColon) {
  ExpectRefused(With("X: a\r\n b\r\n"), Problem::kInvalidHeader);
  ExpectRefused("GET / HTTP/1.1\r\n Host: box\r\n\r\n", Problem::kInvalidHeader);
  ExpectRefused("GET / HTTP/1.1\r\nHost : box\r\n\r\n", Problem::kInvalidHeader);
  ExpectRefused(With("No colon\r\n"), Problem::kInvalidHeader);
  ExpectRefused(With(": no name\r\n"), Problem::kInvalidHeader);
  ExpectRefused(With("Na(me: x\r\n"), Problem::kInvalidHeader);
}

TEST(WireHead, RefusesControlBytes) {
  ExpectRefused(With(std::string("X: a\x01") + "b\r\n"), Problem::kInvalidHeader);
  ExpectRefused(With(std::string("X: a\0b\r\n", 8)), Problem::kInvalidHeader);
  ExpectRefused(With("X: a\x7f\r\n"), Problem::kInvalidHeader);
  ExpectRefused(Line(std::string("GET /a\0b HTTP/1.1", 17)), Problem::kInvalidHeader);
  ExpectAccepted(With("X-Name: Se\xc3\xb1or\r\n"));
  ExpectAccepted(With("X-Name:\tSe\xc3\xb1or\tPaz\t\r\n"));
  ExpectRefused(With("X\tName: x\r\n"), Problem::kInvalidHeader);
  ExpectRefused(Line("GET\t/ HTTP/1.1"), Problem::kInvalidHeader);
}

TEST(WireHead, NeedsExactlyOneHostInHttp11) {
  ExpectRefused("GET / HTTP/1.1\r\n\r\n", Problem::kInvalidHeader);
  ExpectRefused("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", Problem::kInvalidHeader);
  ExpectRefused("GET / HTTP/1.1\r\nHost:\r\n\r\n", Problem::kInvalidHeader);
  ExpectAccepted("GET / HTTP/1.0\r\n\r\n");
}

TEST(WireHead, ReadsTheNameOutOfHost) {
  const auto host_of = [](const std::string& value) {
    const std::string text = "GET / HTTP/1.1\r\nHost: " + value + "\r\n\r\n";
    Head head;
    CheckHead(text, head);
    return std::string(head.host);
  };
  EXPECT_EQ(host_of("box"), "box");
  EXPECT_EQ(host_of("box.local.:443"), "box.local");
  EXPECT_EQ(host_of("192.168.1.5:8443"), "192.168.1.5");
  EXPECT_EQ(host_of("[fe80::1]:8443"), "fe80::1");
  EXPECT_EQ(host_of("[::1]"), "::1");
}

TEST(WireHead, RefusesMalformedHosts) {
  for (const char* host : {"a b", "box:80a", "box:123456", "[::1", "[::1]x", "user@box", "a/b",
                           "[]", "a:b:c", "[box]", "[12]", "[::1%eth0]"}) {
    ExpectRefused("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n",
                  Problem::kInvalidHeader);
  }
}

TEST(WireHead, RefusesAmbiguousLengths) {
  ExpectRefused(With("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"),
                Problem::kInvalidHeader);
  ExpectRefused(With("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"),
                Problem::kInvalidHeader);
  ExpectRefused(With("Content-Length: 3\r\nContent-Length: 3\r\n"), Problem::kInvalidHeader);
  ExpectRefused(With("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
                Problem::kInvalidHeader);
  for (const char* length :
       {"+3", "-1", "3abc", "0x10", "3, 3", "", "3.0", "99999999999999999999999"}) {
    ExpectRefused(With("Content-Length: " + std::string(length) + "\r\n"), Problem::kInvalidHeader);
  }
}

TEST(WireHead, RefusesABodyThatNoRouteTakes) {
  ExpectAccepted(With("Content-Length: 8388608\r\n"));
  ExpectRefused(With("Content-Length: 8388609\r\n"), Problem::kPayloadTooLarge);
}

TEST(WireHead, KnowsNoTransferCodingButChunked) {
  ExpectAccepted(With("Transfer-Encoding: Chunked\r\n"));
  ExpectRefused(With("Transfer-Encoding: gzip, chunked\r\n"), Problem::kNotImplemented);
  ExpectRefused(With("Transfer-Encoding: identity\r\n"), Problem::kNotImplemented);
  ExpectRefused("POST / HTTP/1.0\r\nHost: box\r\nTransfer-Encoding: chunked\r\n\r\n",
                Problem::kInvalidHeader);
}

TEST(WireHead, KnowsNoExpectationButContinue) {
  ExpectAccepted(With("Expect: 100-Continue\r\n"));
  ExpectRefused(With("Expect: 200-ok\r\n"), Problem::kExpectationFailed);
}

TEST(WireHead, RefusesUnknownMethodsAsNotImplemented) {
  for (const char* method : {"QUERY", "trace", "CONNECT", "get", "PROPFIND"}) {
    const Verdict verdict = Judge(Line(std::string(method) + " /v1/orders HTTP/1.1"));
    EXPECT_EQ(verdict.problem, Problem::kNotImplemented) << method;
    EXPECT_EQ(verdict.path, "/v1/orders") << method;
  }
  ExpectRefused(Line("CONNECT box:443 HTTP/1.1"), Problem::kNotImplemented);
  ExpectRefused(Line("G@T / HTTP/1.1"), Problem::kInvalidHeader);
}

TEST(WireHead, RefusesOtherVersions) {
  ExpectRefused(Line("GET / HTTP/9.9"), Problem::kVersionNotSupported);
  ExpectRefused(Line("GET / HTTP/1.2"), Problem::kVersionNotSupported);
  ExpectRefused("PRI * HTTP/2.0\r\n\r\n", Problem::kVersionNotSupported);
  ExpectRefused(Line("GET / HTTP/1"), Problem::kInvalidHeader);
  ExpectRefused(Line("GET / http/1.1"), Problem::kInvalidHeader);
  ExpectRefused(Line("GET /"), Problem::kInvalidHeader);
}

TEST(WireHead, RefusesARequestLineOutOfForm) {
  ExpectRefused("\r\n\r\n", Problem::kInvalidHeader);
  ExpectRefused("", Problem::kInvalidHeader);
  ExpectRefused(Line("GET  / HTTP/1.1"), Problem::kInvalidHeader);
  ExpectRefused(Line("GET / x HTTP/1.1"), Problem::kInvalidHeader);
  ExpectRefused(Line("GET orders HTTP/1.1"), Problem::kInvalidHeader);
  ExpectRefused(Line("GET /a#b HTTP/1.1"), Problem::kInvalidHeader);
  ExpectRefused(Line("GET /\xff HTTP/1.1"), Problem::kInvalidHeader);
  ExpectRefused(Line("GET * HTTP/1.1"), Problem::kInvalidHeader);
}

TEST(WireHead, ToleratesOneEmptyLineBeforeTheRequest) {
  ExpectAccepted("\r\n" + Line("GET / HTTP/1.1"));
  ExpectRefused("\r\n\r\n" + Line("GET / HTTP/1.1"), Problem::kInvalidHeader);
}

TEST(WireHead, ServesTheAbsoluteFormAsItsPath) {
  const std::string text = Line("GET HTTPS://Other:8443/v1/orders?page=1 HTTP/1.1");
  Head head;

  CheckHead(text, head);

  EXPECT_EQ(head.path, "/v1/orders");
  EXPECT_EQ(head.query, "page=1");
  EXPECT_EQ(head.host, "Other") << "it stands above the field Host";
}

TEST(WireHead, FillsInThePathOfABareAuthority) {
  const std::string text = Line("GET http://box?page=1 HTTP/1.1");
  Head head;

  CheckHead(text, head);

  EXPECT_EQ(head.path, "/");
  EXPECT_EQ(head.query, "page=1");
}

TEST(WireHead, AcceptsTheAsteriskForOptionsAlone) {
  const std::string text = Line("OPTIONS * HTTP/1.1");
  Head head;

  CheckHead(text, head);

  EXPECT_EQ(head.path, "*");
}

TEST(WireHead, LeavesEscapesToTheRouter) {
  EXPECT_EQ(Judge(Line("GET /a%zz%00 HTTP/1.1")).path, "/a%zz%00");
}

TEST(WireHead, BoundsTheRequestLine) {
  const std::string fits(kRequestLineBytesMax - std::string("GET / HTTP/1.1").size(), 'a');
  ExpectAccepted(Line("GET /" + fits + " HTTP/1.1"));
  ExpectRefused(Line("GET /" + fits + "a HTTP/1.1"), Problem::kUriTooLong);
}

TEST(WireHead, BoundsTheHeaderBlock) {
  const std::string host = "Host: box\r\n";
  const std::string value(kHeaderBytesMax - host.size() - std::string("X: \r\n").size(), 'a');
  ExpectAccepted("GET / HTTP/1.1\r\n" + host + "X: " + value + "\r\n\r\n");
  ExpectRefused("GET / HTTP/1.1\r\n" + host + "X: a" + value + "\r\n\r\n",
                Problem::kHeadersTooLarge);
}

TEST(WireHead, BoundsTheNumberOfFields) {
  std::string fields;
  for (size_t i = 1; i < kHeadersMax; ++i) fields += "X: y\r\n";
  ExpectAccepted(With(fields));
  ExpectRefused(With(fields + "X: y\r\n"), Problem::kHeadersTooLarge);
}

TEST(WireHead, NamesThePathWhereAFieldIsWrong) {
  EXPECT_EQ(Judge(With("Content-Length: x\r\n")).path, "/v1/orders");
  EXPECT_EQ(Judge("GET orders HTTP/1.1\r\n\r\n").path, "");
}

TEST(WireHead, ObeysTheClientsWishToClose) {
  const auto keeps_alive = [](const std::string& text) {
    Head head;
    CheckHead(text, head);
    return head.keeps_alive;
  };
  EXPECT_TRUE(keeps_alive(With("")));
  EXPECT_TRUE(keeps_alive(With("Connection: Keep-Alive\r\n")));
  EXPECT_FALSE(keeps_alive(With("Connection: close\r\n")));
  EXPECT_FALSE(keeps_alive(With("Connection: keep-alive, Close\r\n")));
  EXPECT_FALSE(keeps_alive("GET / HTTP/1.0\r\nHost: box\r\n\r\n"));
}

TEST(WireHead, TellsWhyAHeadNeverEnded) {
  const auto code = [](const std::string& text, Unfinished reason) {
    return RefuseUnfinished(text, reason).problem;
  };
  EXPECT_EQ(code("GET /" + std::string(kHeadBytesMax, 'a'), Unfinished::kTooLarge),
            Problem::kUriTooLong);
  EXPECT_EQ(code("GET / HTTP/1.1\r\nX: " + std::string(kHeadBytesMax, 'a'), Unfinished::kTooLarge),
            Problem::kHeadersTooLarge);
  EXPECT_EQ(code("GET / HT", Unfinished::kTimedOut), Problem::kRequestTimeout);
  EXPECT_EQ(code("GET /\x01", Unfinished::kMalformed), Problem::kInvalidHeader);
}

}  // namespace
}  // namespace comanda::wire
