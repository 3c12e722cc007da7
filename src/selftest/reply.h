#pragma once

// One answer of the server under test, read with patience: what is missing or of another kind than
// expected is "absent", never an error.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"
#include "net/call.h"

namespace comanda::selftest {

// What stands at a path like "data.combos.0.sku" ("last" is the last item of an array).
std::optional<json::Value> Find(std::optional<json::Value> value, std::string_view path);

// The text at a path; empty where there is none.
std::string TextAt(std::optional<json::Value> value, std::string_view path);

// For a person: short, without control characters.
std::string Shown(std::optional<json::Value> value);
std::string Shown(std::string_view text);

class Reply {
 public:
  Reply() = default;
  explicit Reply(net::Answer answer);

  // 0 where no whole answer came; answer() says why.
  int status() const { return answer_->outcome == net::Outcome::kAnswered ? answer_->status : 0; }
  const net::Answer& answer() const { return *answer_; }
  std::optional<std::string_view> Header(std::string_view name) const {
    return answer_->Header(name);
  }
  std::string HeaderOr(std::string_view name, std::string_view otherwise) const;

  std::optional<json::Value> Find(std::string_view path) const;
  std::string Text(std::string_view path) const { return TextAt(Find(""), path); }
  std::vector<json::Value> Items(std::string_view path) const;
  // The item of a list whose field has that text.
  std::optional<json::Value> Row(std::string_view list, std::string_view field,
                                 std::string_view text) const;

  // The code of a problem document, or the last part of its type.
  std::string Code() const;
  // "422 validation_failed: what it said"
  std::string Described() const;

 private:
  std::shared_ptr<const net::Answer> answer_ = std::make_shared<const net::Answer>();
  std::shared_ptr<const json::Document> document_;  // null: the body is no JSON
};

}  // namespace comanda::selftest
