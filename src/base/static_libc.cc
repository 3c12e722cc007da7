// Replacements for the functions of the C library that use its name service switch (NSS).
//
// In a static program glibc would load NSS modules of exactly its own version at run time; the
// linker warns about each such function. c-ares resolves names instead. CivetWeb and c-ares refer
// to these functions only for features that are not used here: running as another user, host names
// as listening addresses, service names. A dynamic program keeps glibc's functions, which the
// sanitizers intercept.

#ifdef COMANDA_STATIC

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <string>

namespace {

// Copies with the terminating NUL; false if the buffer is too small.
bool CopyText(const std::string& text, char* out, socklen_t size) {
  if (out == nullptr || size == 0) return true;
  if (text.size() + 1 > size) return false;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return true;
}

// The result of getaddrinfo(), in one allocation.
struct NumericAddress {
  addrinfo info{};
  sockaddr_in v4{};
  sockaddr_in6 v6{};
};

bool ReadNumeric(const char* text, int family, NumericAddress& out) {
  out.info.ai_socktype = SOCK_STREAM;
  if (family != AF_INET6 && inet_pton(AF_INET, text, &out.v4.sin_addr) == 1) {
    out.v4.sin_family = AF_INET;
    out.info.ai_addr = reinterpret_cast<sockaddr*>(&out.v4);
    out.info.ai_addrlen = sizeof out.v4;
  } else if (family != AF_INET && inet_pton(AF_INET6, text, &out.v6.sin6_addr) == 1) {
    out.v6.sin6_family = AF_INET6;
    out.info.ai_addr = reinterpret_cast<sockaddr*>(&out.v6);
    out.info.ai_addrlen = sizeof out.v6;
  } else {
    return false;
  }
  out.info.ai_family = out.info.ai_addr->sa_family;
  return true;
}

}  // namespace

extern "C" {

passwd* getpwnam(const char*) { return nullptr; }

// Numeric addresses only: CivetWeb parses its IPv6 listening address with it.
int getaddrinfo(const char* host, const char*, const addrinfo* hints, addrinfo** result) {
  *result = nullptr;
  auto* address = new (std::nothrow) NumericAddress;
  if (address == nullptr) return EAI_MEMORY;
  const int family = hints == nullptr ? AF_UNSPEC : hints->ai_family;
  if (host == nullptr || !ReadNumeric(host, family, *address)) {
    delete address;
    return EAI_NONAME;
  }
  *result = &address->info;
  return 0;
}

// `info` is the first member of a NumericAddress.
void freeaddrinfo(addrinfo* info) noexcept { delete reinterpret_cast<NumericAddress*>(info); }

int getservbyname_r(const char*, const char*, servent*, char*, size_t, servent** result) {
  *result = nullptr;
  return 0;
}

int getservbyport_r(int, const char*, servent*, char*, size_t, servent** result) {
  *result = nullptr;
  return 0;
}

// Always numeric, whatever the flags.
int getnameinfo(const sockaddr* address, socklen_t address_size, char* host, socklen_t host_size,
                char* service, socklen_t service_size, int) {
  char text[INET6_ADDRSTRLEN] = "";
  in_port_t port = 0;
  if (address->sa_family == AF_INET && address_size >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    port = ntohs(v4.sin_port);
  } else if (address->sa_family == AF_INET6 && address_size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, address, sizeof v6);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    port = ntohs(v6.sin6_port);
  } else {
    return EAI_FAMILY;
  }
  const bool fits =
      CopyText(text, host, host_size) && CopyText(std::to_string(port), service, service_size);
  return fits ? 0 : EAI_OVERFLOW;
}

}  // extern "C"

#endif  // COMANDA_STATIC
