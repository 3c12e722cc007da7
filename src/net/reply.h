#pragma once

// An answer of a server that speaks JSON. Reading is tolerant: a value that is missing or of
// another kind than expected is absent, never an error, because the server may be wrong in any way.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/reader.h"
#include "net/call.h"

namespace comanda::net {

// The value at a path such as "data.combos.0.sku"; "last" is the last item of an array.
std::optional<json::Value> Find(std::optional<json::Value> value, std::string_view path);

// The text at a path; empty if absent or not a text.
std::string TextAt(std::optional<json::Value> value, std::string_view path);

// A short form for reports, without control characters.
std::string Shown(std::optional<json::Value> value);
std::string Shown(std::string_view text);

// Cheap to copy; immutable.
class Reply {
 public:
  Reply() = default;
  explicit Reply(Answer answer);

  // 0 if no complete answer arrived; answer() has the reason.
  int status() const { return answer_->outcome == Outcome::kAnswered ? answer_->status : 0; }
  const Answer& answer() const { return *answer_; }
  std::optional<std::string_view> Header(std::string_view name) const {
    return answer_->Header(name);
  }
  // The header, or `otherwise`.
  std::string HeaderOr(std::string_view name, std::string_view otherwise) const;

  // The functions above, applied to the body.
  std::optional<json::Value> Find(std::string_view path) const;
  std::string Text(std::string_view path) const { return TextAt(Find(""), path); }
  // The items of the array at the path; empty if absent.
  std::vector<json::Value> Items(std::string_view path) const;
  // The item of the array at `list` whose `field` is this text.
  std::optional<json::Value> Row(std::string_view list, std::string_view field,
                                 std::string_view text) const;

  // The code of a problem document; without one, the last segment of its type.
  std::string Code() const;
  // A summary for reports: "422 validation_failed: <detail>".
  std::string Described() const;

 private:
  std::shared_ptr<const Answer> answer_ = std::make_shared<const Answer>();
  // Null if the body is not JSON.
  std::shared_ptr<const json::Document> document_;
};

}  // namespace comanda::net
