#include "http/dispatch.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "base/log.h"
#include "base/problem.h"
#include "support/api.h"

namespace comanda::http {
namespace {

using auth::Scope;
using testing::Answer;
using testing::Api;

Response Record(Context& context) {
  if (context.HasMatch("\"early\"")) return NotModified("\"early\"");
  Response response = Data("{\"a\":1}");
  response.etag = "\"3.1\"";
  return response;
}
Response Plain(Context&) { return Data("{\"a\":1}"); }
Response Echo(Context& context) { return Data(context.body().Canonical()); }
Response Who(Context& context) {
  return Data("{\"company\":\"" + context.principal().company_uuid + "\",\"actor\":\"" +
              context.principal().actor + "\"}");
}
Response Guarded(Context& context) {
  context.RequireMatch(3);
  return Data("{}");
}
Response FailInside(Context&) { throw Fault(Fault::Kind::kInternal, "SECRET CAUSE"); }
Response FailFull(Context&) { throw Fault(Fault::Kind::kDiskFull, "SECRET CAUSE"); }
Response FailOddly(Context&) { throw std::out_of_range("SECRET CAUSE"); }
Response NamedId(Context& context) { return Data("\"" + context.UuidParameter("id") + "\""); }
Response Tagged(Context& context) {
  Response response = Data("[]");
  response.etag = context.ListTag(0);
  return response;
}

constexpr Route LocalRoute() {
  Route route = {
      Method::kPost, "/local/import", Access::kLocal, std::nullopt, Replay::kNone, true, Who};
  route.of_one_company = false;
  return route;
}

constexpr std::array kRoutes = {
    Get("/record", Scope::kOrdersRead, Record),
    Get("/plain", Scope::kOrdersRead, Plain),
    Get("/who", Scope::kOrdersRead, Who),
    Post("/echo", Scope::kOrdersWrite, Echo),
    PostBodyOptional("/echo-maybe", Scope::kOrdersWrite, Echo),
    Delete("/guarded", Scope::kOrdersWrite, Guarded),
    Get("/fail/inside", Scope::kOrdersRead, FailInside),
    Get("/fail/full", Scope::kOrdersRead, FailFull),
    Get("/fail/oddly", Scope::kOrdersRead, FailOddly),
    Get("/named/{id}", Scope::kOrdersRead, NamedId),
    Get("/tagged", Scope::kOrdersRead, Tagged),
    Open(Method::kGet, "/open", Plain),
    LocalRoute(),
};

class HttpDispatch : public ::testing::Test {
 protected:
  HttpDispatch() {
    auth::ScopeSet scopes;
    scopes.Add(Scope::kOrdersRead);
    scopes.Add(Scope::kOrdersWrite);
    api_.key = api_.AddKey(scopes);
  }
  Answer Echo(std::string body, Api::Headers headers = {}) {
    return api_.Send(Method::kPost, "/echo", std::move(body), std::move(headers));
  }

  Api api_{{kRoutes}};
};

TEST_F(HttpDispatch, TellsAKeyItsRate) {
  const Answer found = api_.Get("/plain");
  EXPECT_EQ(found.status(), 200);
  EXPECT_EQ(found.Header("RateLimit-Limit"), "3000");
  EXPECT_EQ(found.Header("RateLimit-Remaining"), "2999");
  EXPECT_EQ(found.Header("RateLimit-Reset"), "1");
  const Answer missing = api_.Get("/none");
  EXPECT_EQ(missing.Header("RateLimit-Limit"), "");
  EXPECT_EQ(missing.code(), "not_found");
}

TEST_F(HttpDispatch, AsksForTheRouteBeforeTheKeyAndForTheKeyBeforeTheBody) {
  api_.key.clear();
  EXPECT_EQ(api_.Get("/none").status(), 404);
  EXPECT_EQ(api_.Send(Method::kPut, "/plain").Header("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(Echo("{").code(), "unauthorized");
  EXPECT_EQ(api_.Get("/plain?page=").code(), "unauthorized");
  EXPECT_EQ(api_.Get("/open").status(), 200);
}

TEST_F(HttpDispatch, AsksForTheScopeOfTheRow) {
  api_.key = api_.AddKey(auth::ScopeSet::FromBits(0));
  const Answer answer = Echo("{");
  EXPECT_EQ(answer.code(), "insufficient_scope");
  EXPECT_NE(answer.Header("WWW-Authenticate").find("orders:write"), std::string::npos);
  EXPECT_EQ(answer.Header("RateLimit-Limit"), "3000");
}

TEST_F(HttpDispatch, RefusesAboveTheRateWithHeaders) {
  for (int i = 0; i < 3000; ++i) api_.Get("/plain");
  const Answer answer = api_.Get("/plain");
  EXPECT_EQ(answer.code(), "rate_limit_exceeded");
  EXPECT_EQ(answer.Header("Retry-After"), "1");
  EXPECT_EQ(answer.Header("RateLimit-Reset"), "1");
  EXPECT_EQ(answer.Header("RateLimit-Remaining"), "0");
}

TEST_F(HttpDispatch, ReadsJsonBodiesAlone) {
  EXPECT_EQ(Echo("{\"b\":1.50,\"a\":2}").response.body, R"({"data":{"a":2,"b":1.5}})");
  EXPECT_EQ(Echo("{}", {{"Content-Type", "application/json; charset=UTF-8"}}).status(), 200);
  EXPECT_EQ(Echo("{}", {{"Content-Type", "text/plain"}}).code(), "unsupported_media_type");
  EXPECT_EQ(Echo("{}", {{"Content-Type", "application/json; charset=latin1"}}).status(), 415);
  EXPECT_EQ(Echo("{}", {{"Content-Encoding", "gzip"}}).status(), 415);
  EXPECT_EQ(Echo("{}", {{"Content-Encoding", "identity"}}).status(), 200);
  EXPECT_EQ(Echo("").code(), "length_required");
  EXPECT_EQ(Echo("", {{"Content-Length", "0"}}).code(), "invalid_json");
  EXPECT_EQ(Echo("", {{"Transfer-Encoding", "chunked"}}).code(), "invalid_json");
  EXPECT_EQ(Echo(" \n").code(), "invalid_json");
  EXPECT_EQ(Echo("{\"a\":1,}").code(), "invalid_json");
  EXPECT_EQ(Echo(std::string(kBodyMax + 1, ' ')).code(), "payload_too_large");
  EXPECT_EQ(api_.Send(Method::kPost, "/echo-maybe").response.body, R"({"data":{}})");
}

TEST_F(HttpDispatch, IsLenientAboutAccept) {
  for (const char* accept : {"*/*", "application/json", "text/html, application/*;q=0.8", ""}) {
    EXPECT_EQ(api_.Get("/plain", {{"Accept", accept}}).status(), 200) << accept;
  }
  EXPECT_EQ(api_.Get("/plain", {{"Accept", "text/html"}}).code(), "not_acceptable");
  EXPECT_EQ(api_.Get("/open", {{"Accept", "text/html"}}).status(), 200);
}

TEST_F(HttpDispatch, AnswersAMatchingTagWith304ForNothing) {
  const Answer fresh = api_.Get("/record");
  EXPECT_EQ(fresh.response.etag, "\"3.1\"");
  for (const char* tags : {"\"3.1\"", "W/\"3.1\"", "\"2\", \"3.1\"", "*"}) {
    const Answer same = api_.Get("/record", {{"If-None-Match", tags}});
    EXPECT_EQ(same.status(), 304) << tags;
    EXPECT_EQ(same.response.body, "");
    EXPECT_EQ(same.Header("RateLimit-Remaining"), "2999") << "the 304 was given back";
  }
  EXPECT_EQ(api_.Get("/record", {{"If-None-Match", "\"early\""}}).status(), 304);
  EXPECT_EQ(api_.Get("/record", {{"If-None-Match", "\"3\""}}).status(), 200);
  EXPECT_EQ(api_.Get("/record", {{"If-None-Match", "nonsense"}}).status(), 200);
}

TEST_F(HttpDispatch, TagsEveryGet) {
  const std::string tag = api_.Get("/plain").response.etag;
  EXPECT_TRUE(tag.starts_with("W/\""));
  EXPECT_EQ(api_.Get("/plain", {{"If-None-Match", tag}}).status(), 304);
  EXPECT_EQ(api_.Send(Method::kHead, "/plain").response.etag, tag);
}

TEST_F(HttpDispatch, TagsListsByCounterAndRequest) {
  const std::string tag = api_.Get("/tagged").response.etag;
  EXPECT_EQ(api_.Get("/tagged").response.etag, tag);
  EXPECT_NE(api_.Get("/tagged?page=2").response.etag, tag);
  db::ChangeCounters::Values values;
  values.changes[0] = 1;
  api_.database->counters().Publish(testing::kCompany, values);
  EXPECT_NE(api_.Get("/tagged").response.etag, tag);
}

TEST_F(HttpDispatch, ChecksIfMatchByVersion) {
  const auto remove = [&](std::string tags) {
    return api_.Send(Method::kDelete, "/guarded", "", {{"If-Match", std::move(tags)}});
  };
  for (const char* tags : {"\"3\"", "\"3.1\"", "\"3.9\"", "*", "\"1\", \"3\""}) {
    EXPECT_EQ(remove(tags).status(), 200) << tags;
  }
  EXPECT_EQ(api_.Send(Method::kDelete, "/guarded").status(), 200);
  for (const char* tags : {"\"2\"", "\"33\"", "W/\"3\"", "\"x\""}) {
    EXPECT_EQ(remove(tags).code(), "precondition_failed") << tags;
  }
  EXPECT_NE(remove("\"2\"").Text("detail").find("version is 3"), std::string::npos);
  EXPECT_EQ(remove("3").code(), "invalid_header");
}

TEST_F(HttpDispatch, NeverShowsTheCauseOfAFault) {
  for (const auto& [path, code] :
       {std::pair("/fail/inside", "internal_error"), std::pair("/fail/full", "service_unavailable"),
        std::pair("/fail/oddly", "internal_error")}) {
    const Answer answer = api_.Get(path);
    EXPECT_EQ(answer.code(), code);
    EXPECT_EQ(answer.response.body.find("SECRET"), std::string::npos);
    EXPECT_EQ(answer.Header("RateLimit-Limit"), "3000");
  }
}

TEST_F(HttpDispatch, RefusesAMalformedIdInThePath) {
  EXPECT_EQ(api_.Get("/named/7").status(), 422);
  EXPECT_NE(api_.Get("/named/7").response.body.find(R"("field":"id")"), std::string::npos);
  EXPECT_EQ(api_.Get("/named/0190A5C8-6F2E-7C3A-9D41-2B7F5E8A1C90").response.body,
            R"({"data":"0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1c90"})");
}

TEST_F(HttpDispatch, AnswersOptionsWithAllow) {
  api_.key.clear();
  const Answer answer = api_.Send(Method::kOptions, "/plain");
  EXPECT_EQ(answer.status(), 204);
  EXPECT_EQ(answer.Header("Allow"), "GET, HEAD, OPTIONS");
  EXPECT_EQ(api_.Send(Method::kOptions, "/none").status(), 404);
}

TEST_F(HttpDispatch, LetsTheCommandLineActForACompany) {
  EXPECT_EQ(api_.Send(Method::kPost, "/local/import", "{}").code(), "not_found");
  api_.key = "local";
  EXPECT_EQ(api_.Get("/who").Text("company"), testing::kCompanyId);
  api_.local_company = {};
  const Answer asked = api_.Get("/who");
  EXPECT_EQ(asked.code(), "invalid_parameter");
  for (const std::string_view id : {testing::kCompanyId, testing::kOtherCompanyId}) {
    EXPECT_NE(asked.response.body.find(id), std::string::npos);
  }
  api_.local_company = testing::kCompanyId;
  EXPECT_EQ(api_.Get("/who").Text("actor"), "local");
  EXPECT_EQ(
      api_.Get("/who", {{"X-Company-Id", std::string(testing::kOtherCompanyId)}}).Text("company"),
      testing::kOtherCompanyId);
  EXPECT_EQ(api_.Get("/who", {{"X-Company-Id", "7"}}).code(), "invalid_header");
  EXPECT_EQ(api_.Get("/who", {{"X-Company-Id", "0190a5c8-6f2e-7c3a-9d41-2b7f5e8a1cff"}}).code(),
            "not_found");
  EXPECT_EQ(api_.Send(Method::kPost, "/local/import", "{}").status(), 200);
}

TEST_F(HttpDispatch, CountsAnswersByClass) {
  api_.Get("/plain");
  api_.Get("/none");
  const std::string text = api_.database.registry.Text();
  EXPECT_NE(text.find(R"(comanda_http_requests_total{environment="live",class="2xx"} 1)"),
            std::string::npos);
  EXPECT_NE(text.find(R"(comanda_http_requests_total{environment="live",class="4xx"} 1)"),
            std::string::npos);
}

// The lines that are logged while it lives.
class LoggedLines {
 public:
  LoggedLines() : file_(std::tmpfile()) { log::SetOutput(fileno(file_)); }
  ~LoggedLines() {
    log::SetOutput(STDOUT_FILENO);
    std::fclose(file_);
  }
  LoggedLines(const LoggedLines&) = delete;
  LoggedLines& operator=(const LoggedLines&) = delete;
  int count() const {
    int lines = 0;
    std::rewind(file_);
    for (int c = std::fgetc(file_); c != EOF; c = std::fgetc(file_)) lines += c == '\n' ? 1 : 0;
    return lines;
  }

 private:
  std::FILE* file_;
};

TEST_F(HttpDispatch, LetsNobodyWithoutAKeyFillTheLog) {
  const std::string key = std::exchange(api_.key, "");
  const LoggedLines lines;
  for (int i = 0; i < 100; ++i) api_.Get("/plain");
  EXPECT_EQ(lines.count(), 10);
  api_.key = key;
  api_.Get("/named/7");
  EXPECT_EQ(lines.count(), 11) << "who has a key is not held back by them";
  api_.key = "";
  api_.database.clock.Advance(10'000);
  api_.Get("/plain");
  EXPECT_EQ(lines.count(), 12);
}

}  // namespace
}  // namespace comanda::http
