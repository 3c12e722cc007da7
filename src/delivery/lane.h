#pragma once

// Which of the messages that wait for one destination may be sent now, and what a failure means.
// Pure: no clock, database or network. One thread.
//
// Messages with the same key go in their order: a later one waits while an earlier one waits. A
// message that fails is late: it is tried again after 2, 4, 8 … 60 s, after those that have not
// failed, and given up after a day of such attempts. Messages of other keys go on.
//
// An attempt without an answer takes long, and may mean that the destination does not answer at
// all. After one, late messages are tried one at a time, with growing pauses, until there is an
// answer. After one of another key as well, all messages wait for the end of the pause.
//
// While the destination is down, as the caller says, all messages wait like that, and a failure is
// not counted: it is not the message's own.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace comanda::delivery {

class Lane {
 public:
  struct Message {
    std::string_view key;  // of an order
    int64_t place = 0;     // among those of its key
    int64_t failures = 0;  // that were counted
  };

  // The index of the message to be sent next: the first that has not failed, else the late one that
  // is due first. Nothing: none is due.
  std::optional<size_t> Next(std::span<const Message> waiting, int64_t now_ms) const;

  // The message waits no longer: it was delivered, refused, or is not needed.
  void Finish(std::string_view key);

  enum class Failure : uint8_t {
    kAnswered,      // the destination may take the message later
    kNoAnswer,      // none came
    kOfEverything,  // the destination takes nothing now: that says nothing about the message
  };
  enum class Verdict : uint8_t {
    kWait,    // the message is tried again
    kCount,   // and one more failure is counted
    kGiveUp,  // it is not: a person has to look
  };
  Verdict Fail(const Message& message, Failure failure, int64_t now_ms);

  // The destination has answered an attempt or another call.
  void NoteAnswer();
  // It answers nothing; until NoteAnswer().
  void NoteDown() { is_down_ = true; }

  // The number of keys with a late message.
  int64_t late() const { return std::ssize(due_ms_); }

  // A message is given up after so many attempts.
  static constexpr int64_t kAttemptsMax = 1'445;
  // The wait in ms before the next attempt, where so many failures were counted before the last.
  static int64_t WaitAfter(int64_t failures);

 private:
  int64_t DueMs(const Message& message) const;
  bool IsDue(const Message& message, int64_t now_ms) const;
  void Pause(std::string_view key, int64_t now_ms);

  std::map<std::string, int64_t, std::less<>> due_ms_;  // monotonic; of late messages, by key
  bool is_down_ = false;
  std::string unanswered_key_;   // of the last attempt without an answer
  int unanswered_ = 0;           // in a row, each of another key than the one before
  int64_t paused_until_ms_ = 0;  // monotonic
};

}  // namespace comanda::delivery
