#include "backups/sealed.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/problem.h"
#include "crypto/secret_stream.h"

namespace comanda::backups {
namespace {

const std::string kPassphrase = "correct horse battery";
constexpr crypto::KeyCost kCheap = {.passes = 1, .memory_kib = 64};

class BackupsSealed : public testing::Test {
 protected:
  BackupsSealed() {
    std::string path = (std::filesystem::temp_directory_path() / "comanda-test-XXXXXX").string();
    root = ::mkdtemp(path.data());
    std::filesystem::create_directories(root + "/plain/tls");
    std::filesystem::create_directories(root + "/plain/empty");
    Write("plain/live.db", std::string(300'000, 'x') + "end");
    Write("plain/nothing", "");
    Write("plain/tls/ca.key", "secret");
  }
  ~BackupsSealed() override { std::filesystem::remove_all(root); }

  void Write(const std::string& name, const std::string& content) {
    std::ofstream(root + "/" + name, std::ios::binary) << content;
  }
  std::string Read(const std::string& name) {
    std::ifstream in(root + "/" + name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> Entries() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
      names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  void ExpectRefused(const std::string& name, const std::string& passphrase = kPassphrase) {
    EXPECT_THROW(UnsealToOut(name, passphrase), Refusal);
    const auto before = Entries();
    EXPECT_THROW(ReadSealed(root + "/" + name, passphrase), Refusal);
    EXPECT_EQ(Entries(), before) << "reading writes nothing";
  }
  void UnsealToOut(const std::string& name, const std::string& passphrase = kPassphrase) {
    std::filesystem::remove_all(root + "/out");
    std::filesystem::create_directory(root + "/out");
    UnsealInto(root + "/" + name, root + "/out", passphrase);
  }

  std::string root;
};

TEST_F(BackupsSealed, IsUnsealedAsItWas) {
  Seal(root + "/plain", root + "/one.sealed", kPassphrase);
  EXPECT_TRUE(IsSealed(root + "/one.sealed"));
  EXPECT_FALSE(IsSealed(root + "/plain"));
  EXPECT_EQ(Read("one.sealed").find("secret"), std::string::npos);

  UnsealToOut("one.sealed");

  for (const char* name : {"live.db", "nothing", "tls/ca.key"}) {
    EXPECT_EQ(Read("out/" + std::string(name)), Read("plain/" + std::string(name)));
  }
  EXPECT_TRUE(std::filesystem::is_directory(root + "/out/empty"));
  struct stat found = {};
  ASSERT_EQ(::stat((root + "/out/tls/ca.key").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat((root + "/out/tls").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777, 0700u);
  crypto::Blake2b hash;
  hash.Add("secret");
  EXPECT_EQ(ReadSealed(root + "/one.sealed", kPassphrase).at("tls/ca.key"), hash.Finish());
}

TEST_F(BackupsSealed, SealsTheSameTwiceToOtherBytes) {
  Seal(root + "/plain", root + "/one.sealed", kPassphrase, kCheap);
  Seal(root + "/plain", root + "/two.sealed", kPassphrase, kCheap);
  EXPECT_NE(Read("one.sealed").substr(0, 200), Read("two.sealed").substr(0, 200));
}

TEST_F(BackupsSealed, IsRefusedWithAnotherPassphrase) {
  Seal(root + "/plain", root + "/one.sealed", kPassphrase, kCheap);
  ExpectRefused("one.sealed", "correct horse batterz");
  ExpectRefused("one.sealed", "");
}

TEST_F(BackupsSealed, IsRefusedWhereAByteWasChanged) {
  Seal(root + "/plain", root + "/one.sealed", kPassphrase, kCheap);
  const std::string whole = Read("one.sealed");
  // Each part of the file; of the costs only what is cheap to try.
  for (const size_t at : {size_t{0}, size_t{19}, size_t{23}, size_t{24}, size_t{40}, size_t{63},
                          size_t{64}, size_t{80}, size_t{81}, size_t{70'000}, whole.size() - 1}) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x40);
    Write("changed.sealed", changed);
    ExpectRefused("changed.sealed");
  }
}

TEST_F(BackupsSealed, IsRefusedWhereItWasCutOrHasMore) {
  Seal(root + "/plain", root + "/one.sealed", kPassphrase, kCheap);
  const std::string whole = Read("one.sealed");
  const size_t head = 16 + 8 + 16 + 24;
  for (const size_t size :
       {size_t{0}, size_t{10}, size_t{30}, head, head + 17, head + 17 + 65'553, whole.size() - 1}) {
    Write("cut.sealed", whole.substr(0, size));
    ExpectRefused("cut.sealed");
  }
  Write("longer.sealed", whole + "x");
  ExpectRefused("longer.sealed");
}

TEST_F(BackupsSealed, IsRefusedWhereMessagesWereMoved) {
  Seal(root + "/plain", root + "/one.sealed", kPassphrase, kCheap);
  const std::string whole = Read("one.sealed");
  const size_t head = 16 + 8 + 16 + 24 + 17;
  const size_t message = 65'553;
  const std::string first = whole.substr(head, message);
  const std::string second = whole.substr(head + message, message);
  const std::string rest = whole.substr(head + 2 * message);
  Write("swapped.sealed", whole.substr(0, head) + second + first + rest);
  ExpectRefused("swapped.sealed");
  Write("without.sealed", whole.substr(0, head) + second + rest);
  ExpectRefused("without.sealed");
  Write("twice.sealed", whole.substr(0, head) + first + first + second + rest);
  ExpectRefused("twice.sealed");
}

TEST_F(BackupsSealed, IsRefusedAtOnceWhereItAsksForMoreWorkThanOurs) {
  Seal(root + "/plain", root + "/one.sealed", kPassphrase, kCheap);
  const std::string whole = Read("one.sealed");
  for (const size_t at : {size_t{19}, size_t{23}}) {  // the highest byte of passes and memory
    std::string changed = whole;
    changed[at] = '\x7f';
    Write("changed.sealed", changed);
    ExpectRefused("changed.sealed");
  }
  const crypto::KeyCost more = {.passes = 1, .memory_kib = crypto::KeyCost{}.memory_kib + 1};
  Seal(root + "/plain", root + "/more.sealed", kPassphrase, more);
  ExpectRefused("more.sealed");
}

TEST_F(BackupsSealed, IsNoneWhereAnotherFileIs) {
  Write("text",
        "this is some other file, long enough to be looked at as a sealed backup, is it not?");
  EXPECT_FALSE(IsSealed(root + "/text"));
  ExpectRefused("text");
  EXPECT_THROW(UnsealToOut("missing"), Fault);
}

TEST_F(BackupsSealed, TakesThePassphraseOfAFileOfItsOwnerAlone) {
  Write("pass", "eight ch\r\nmore\n");
  ::chmod((root + "/pass").c_str(), 0600);
  EXPECT_EQ(ReadPassphrase(root + "/pass"), "eight ch");
  ::chmod((root + "/pass").c_str(), 0640);
  EXPECT_THROW(ReadPassphrase(root + "/pass"), Refusal);
  Write("short", "seven c\n");
  ::chmod((root + "/short").c_str(), 0600);
  EXPECT_THROW(ReadPassphrase(root + "/short"), Refusal);
  EXPECT_THROW(ReadPassphrase(root + "/missing"), Refusal);
  EXPECT_THROW(ReadPassphrase(root), Refusal);
}

}  // namespace
}  // namespace comanda::backups
