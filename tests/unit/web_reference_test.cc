#include "web/reference.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "web/schema_html.h"

namespace comanda::web {
namespace {

constexpr std::string_view kOpenapi = R"({
  "info": {"summary": "Orders & more.", "version": "v0", "description": "All of it."},
  "tags": [{"name": "Two Words", "description": "About `orders`."}],
  "x-scopes": {"orders:read": "list <orders>"},
  "paths": {"/v1/orders/{id}": {"get": {
    "tags": ["Two Words"], "operationId": "getOrder", "summary": "Read an order",
    "description": "One.\n\nScope: `orders:read`.", "x-required-scope": "orders:read",
    "x-problem-codes": ["not_found"],
    "parameters": [{"$ref": "#/components/parameters/OrderId"}],
    "responses": {
      "404": {"$ref": "#/components/responses/NotFound"},
      "200": {"description": "The order.", "headers": {"ETag": {"description": "A tag."}},
              "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Order"}}}}
    }
  }}},
  "components": {
    "parameters": {"OrderId": {"name": "id", "in": "path", "required": true,
                               "schema": {"type": "string", "maxLength": 36}}},
    "responses": {"NotFound": {"description": "None.", "x-problem-codes": ["not_found", "gone"]}},
    "schemas": {"Order": {"type": "object", "required": ["total"], "properties": {
      "total": {"type": ["number", "null"], "minimum": 0, "description": "In all."},
      "parts": {"type": "array", "maxItems": 5, "items": {"$ref": "#/components/schemas/Order"}}
    }}}
  }
})";

std::string Page() { return ReferenceHtml(json::Document::Parse(kOpenapi)); }

bool Has(std::string_view page, std::string_view part) { return page.find(part) != page.npos; }

TEST(WebReference, SaysWhatTheApiIs) {
  EXPECT_EQ(EditionHtml(json::Document::Parse(kOpenapi)), "Orders &amp; more. API v0");
}

TEST(WebReference, GivesTheScopeAPlaceOfItsOwn) {
  const std::string page = Page();

  EXPECT_TRUE(Has(page, R"(<a href="#scope-orders:read"><code>orders:read</code></a>)"));
  EXPECT_FALSE(Has(page, "Scope: "));
  EXPECT_TRUE(Has(page, R"(<dt id="scope-orders:read">)"));
  EXPECT_TRUE(Has(page, "list &lt;orders&gt;"));
}

TEST(WebReference, PutsWhatSucceedsBeforeRefusals) {
  const std::string page = Page();

  EXPECT_LT(page.find(R"(data-status="200")"), page.find(R"(data-status="404")"));
}

TEST(WebReference, NamesOfARefusalTheCodesOfTheOperation) {
  const std::string page = Page();
  const size_t refusal = page.find(R"(data-status="404")");
  const std::string_view answer =
      std::string_view(page).substr(refusal, page.find("</div>", refusal) - refusal);

  EXPECT_TRUE(Has(answer, "<code>not_found</code>"));
  EXPECT_FALSE(Has(answer, "gone"));
  EXPECT_TRUE(Has(page, R"(<a href="/problems/gone">)"));
}

TEST(WebReference, DescribesFieldsByKindLimitsAndWords) {
  const std::string page = Page();

  EXPECT_TRUE(Has(page, "number or null · from 0</p><p>In all.</p>"));
  EXPECT_TRUE(Has(page, R"(list of <a href="#schema-Order">Order</a> · at most 5 items)"));
  EXPECT_TRUE(Has(page, R"(<code>parts</code> <span class="kind">optional</span>)"));
  EXPECT_TRUE(Has(
      page,
      R"(<dt id="parameter-OrderId"><code>id</code> <span class="kind">path, required</span>)"));
  EXPECT_TRUE(Has(page, "string · at most 36 characters"));
  EXPECT_TRUE(Has(page, R"(<section id="tag-two-words">)"));
}

TEST(WebReference, PrintsExamplesAsTheyAreWritten) {
  const json::Document document =
      json::Document::Parse(R"({"a":[1.50,"\u00f1<"],"b":{},"c":null})");

  EXPECT_EQ(Pretty(document.root()),
            "{\n  \"a\": [\n    1.50,\n    \"ñ<\"\n  ],\n  \"b\": {},\n  \"c\": null\n}");
}

}  // namespace
}  // namespace comanda::web
