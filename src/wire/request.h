#pragma once

// A request as the rooms see it: framed, split and decoded, but not yet read to its end. Made by
// http/server from a connection, and by app/ for commands that run in this process.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace comanda::wire {

// kTrace: known, and possible nowhere.
enum class Method : uint8_t { kGet, kHead, kPost, kPut, kPatch, kDelete, kOptions, kTrace };
std::string_view Name(Method method);
std::optional<Method> FindMethod(std::string_view name);

// Where the body comes from. It is read only after credentials, rate and scope (contract section
// 1).
class BodySource {
 public:
  virtual ~BodySource() = default;
  // The whole body, at most max bytes. Answers Expect: 100-continue first. Refusal
  // payload_too_large, request_timeout, length_required, invalid_header.
  virtual std::string Read(size_t max) = 0;
};

// A body that is already there.
class TextBody final : public BodySource {
 public:
  explicit TextBody(std::string text) : text_(std::move(text)) {}
  std::string Read(size_t max) override;

 private:
  std::string text_;
};

struct Request {
  Method method = Method::kGet;
  std::string path;   // as sent, still encoded, no query: what `instance` shows
  std::string query;  // as sent, without the question mark
  std::vector<std::pair<std::string_view, std::string_view>> headers;  // views into the connection
  std::string client_address;                                          // numeric
  std::string request_id;  // the client's valid one, or ours
  bool local = false;      // over the control socket, or made in this process: principal `local`
  BodySource* body = nullptr;  // null: no body
  // To be called when its key turned out to be valid, before anything is done for it. Refusal where
  // nobody is there any more. Empty where nobody asks.
  std::function<void()> show_key;

  // Case-insensitive; the first of that name.
  std::optional<std::string_view> Header(std::string_view name) const;
};

}  // namespace comanda::wire
