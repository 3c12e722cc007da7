#include "crypto/derived_id.h"

#include <gtest/gtest.h>

namespace comanda::crypto {
namespace {

TEST(DerivedId, GivesTheKnownVectorsOfVersionFive) {
  // RFC 9562 A.4: the DNS namespace and www.example.com.
  EXPECT_EQ(DerivedId("6ba7b810-9dad-11d1-80b4-00c04fd430c8", "www.example.com"),
            "2ed6657d-e927-568b-95e1-2665a8aea6a2");
  EXPECT_EQ(DerivedId("6BA7B810-9DAD-11D1-80B4-00C04FD430C8", "python.org"),
            "886313e1-3b8a-5372-9b90-0c9aee199e5d");
}

}  // namespace
}  // namespace comanda::crypto
