// The signature of a call, by examples that are not ours: the texts are those of Keeta's page on
// signature calculation, the digests were computed by openssl from them.

#include "delivery/request.h"

#include <string>

#include <gtest/gtest.h>

namespace comanda::delivery {
namespace {

const SignatureSource kSignature = {.header = "X-App-Signature", .key = "${client_secret}"};

std::string SignatureOf(Request request, const std::string& key) {
  Sign(kSignature, {{"client_secret", key}}, request);
  return request.headers.back();
}

TEST(Signature, IsOfTheUrlTheSortedQueryAndTheCanonicalBody) {
  EXPECT_EQ(SignatureOf({.url = "https://example.com/path?z=2&a=1"}, "secret"),
            "X-App-Signature: BhfpI+v10rddk6FYr3TQw+prGn67doUErDWsAoohgDA=");
  EXPECT_EQ(SignatureOf(
                {.method = "POST",
                 .url = "https://open.mykeeta.com/api/open/opendelivery/v1/orders/order-1/confirm",
                 .body = R"({"orderExternalCode": "A-100", "createdAt": "2026-09-05T14:00:00Z"})"},
                "secret-123"),
            "X-App-Signature: ecsIObIcXNNkfvlQgogA/g2CG82nDCRjeGBpfgiycxM=");
}

TEST(Signature, SendsTheBodyThatIsSigned) {
  Request request = {.url = "https://example.com/", .body = R"({"b": 1, "a": [ 2 ]})"};
  Sign(kSignature, {{"client_secret", "k"}}, request);
  EXPECT_EQ(request.body, R"({"a":[2],"b":1})");
}

TEST(Signature, LeavesOutWhatIsEmpty) {
  EXPECT_EQ(SignatureOf({.url = "https://example.com/path?"}, "k"),
            SignatureOf({.url = "https://example.com/path"}, "k"));
}

TEST(Signature, TakesTheValuesOfAQueryAsTheyAreMeant) {
  EXPECT_EQ(SignatureOf({.url = "https://example.com/?a=%C3%A1+b"}, "k"),
            SignatureOf({.url = "https://example.com/?a=\u00e1 b"}, "k"));
}

}  // namespace
}  // namespace comanda::delivery
