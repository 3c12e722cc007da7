#include "base/memory.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

// What glibc calls at the end of a thread. There is no other door to the memory that a thread keeps
// than this one and the environment of the process. Null in a dynamic program.
extern "C" [[gnu::weak]] void __malloc_arena_thread_freeres();

namespace comanda {
namespace {

// Where this thread's stack may grow to; 0 where nobody knows.
uintptr_t StackEnd() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return 0;
  void* end = nullptr;
  size_t size = 0;
  const bool known = pthread_attr_getstack(&attributes, &end, &size) == 0;
  pthread_attr_destroy(&attributes);
  return known ? reinterpret_cast<uintptr_t>(end) : 0;
}

}  // namespace

void ShareHeap() {
  constexpr int kPools = 2;
  ::mallopt(M_ARENA_MAX, kPools);
}

void ShareFreedMemory() {
  if (__malloc_arena_thread_freeres != nullptr) __malloc_arena_thread_freeres();
}

void GiveBackStack() {
  static const auto kPage = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  thread_local const uintptr_t end = StackEnd();
  constexpr uintptr_t kOfTheCall = 512;  // that gives it back
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const uintptr_t begin = (here - kOfTheCall) / kPage * kPage;
  if (end == 0 || begin <= end) return;
  ::madvise(reinterpret_cast<void*>(end), begin - end, MADV_DONTNEED);
}

void GiveBackHeap() { ::malloc_trim(0); }

}  // namespace comanda
