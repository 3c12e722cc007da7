#include "wire/listener.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/problem.h"

namespace comanda::wire {
namespace {

TEST(WireListener, ListensOnTheAddressThatItNames) {
  const Fd v4 = OpenListener("127.0.0.1:0");
  const std::string address = ListeningAddress(v4.get()).value();
  EXPECT_TRUE(address.starts_with("127.0.0.1:") && !address.ends_with(":0")) << address;
  EXPECT_TRUE(Serves(address, address));
}

TEST(WireListener, NamesTheAddressThatIsInUse) {
  const Fd first = OpenListener("127.0.0.1:0");
  const std::string address = ListeningAddress(first.get()).value();
  try {
    OpenListener(address);
    FAIL() << "listens twice";
  } catch (const Fault& fault) {
    EXPECT_TRUE(fault.cause.starts_with("cannot listen on " + address + ": Address already in use"))
        << fault.cause;
  }
}

TEST(WireListener, RefusesWhatIsNoAddress) {
  for (const char* text : {"", "8443", "localhost:8443", "127.0.0.1:", "127.0.0.1:65536", "[::]",
                           "[::1:8443", "127.0.0.1:84x", "[]:1"}) {
    EXPECT_THROW(OpenListener(text), Fault) << text;
  }
}

TEST(WireListener, TellsAListenerFromOtherDescriptors) {
  const Fd silent(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd datagram(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const Fd local(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ::listen(local.get(), 1);
  EXPECT_FALSE(ListeningAddress(silent.get()));
  EXPECT_FALSE(ListeningAddress(datagram.get()));
  EXPECT_FALSE(ListeningAddress(local.get()));
  EXPECT_FALSE(ListeningAddress(-1));
}

TEST(WireListener, KnowsWhichListenerServesWhichAddress) {
  EXPECT_TRUE(Serves("0.0.0.0:443", "0.0.0.0:443"));
  EXPECT_TRUE(Serves("[::]:443", "0.0.0.0:443"));
  EXPECT_TRUE(Serves("[::]:443", "[0::0]:443"));
  EXPECT_TRUE(Serves("[::1]:443", "[0:0::1]:443"));

  EXPECT_FALSE(Serves("0.0.0.0:443", "0.0.0.0:8443"));
  EXPECT_FALSE(Serves("0.0.0.0:443", "[::]:443"));
  // It would open what is meant to be open on one network alone.
  EXPECT_FALSE(Serves("0.0.0.0:443", "10.0.0.5:443"));
  EXPECT_FALSE(Serves("[::]:443", "127.0.0.1:443"));
  EXPECT_FALSE(Serves("0.0.0.0:443", ""));
}

}  // namespace
}  // namespace comanda::wire
