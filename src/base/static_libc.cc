// The members of the C library that need its name service, replaced.
//
// In a static program glibc's own would load shared objects of the very same version at run time,
// and the linker warns about each. Names are resolved by c-ares; CivetWeb and c-ares refer to these
// functions for features that are not used here (running as another user, host names as listening
// addresses, service names). A dynamic program keeps the C library's, which the sanitizers watch.

#ifdef COMANDA_STATIC

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pwd.h>
#include <sys/socket.h>

#include <cstdio>
#include <cstring>
#include <string>

namespace {

// Copies with the closing NUL; false where there is no room.
bool Put(const std::string& text, char* out, socklen_t size) {
  if (out == nullptr || size == 0) return true;
  if (text.size() + 1 > size) return false;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return true;
}

}  // namespace

extern "C" {

passwd* getpwnam(const char*) { return nullptr; }

int getaddrinfo(const char*, const char*, const addrinfo*, addrinfo** result) {
  *result = nullptr;
  return EAI_NONAME;
}

void freeaddrinfo(addrinfo*) noexcept {}

int getservbyname_r(const char*, const char*, servent*, char*, size_t, servent** result) {
  *result = nullptr;
  return 0;
}

int getservbyport_r(int, const char*, servent*, char*, size_t, servent** result) {
  *result = nullptr;
  return 0;
}

// Numbers whatever the flags ask for.
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
  const bool fits = Put(text, host, host_size) && Put(std::to_string(port), service, service_size);
  return fits ? 0 : EAI_OVERFLOW;
}

}  // extern "C"

#endif  // COMANDA_STATIC
