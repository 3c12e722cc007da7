#pragma once

// A caller's sleep until its job is answered: one thread waits, another signals once. Not
// std::binary_semaphore: before it sleeps, that of GCC 12 yields the processor again and again, a
// fifth of all CPU with 64 callers.

#include <semaphore.h>

namespace comanda::db {

class Answered {
 public:
  Answered() { ::sem_init(&semaphore_, 0, 0); }
  Answered(const Answered&) = delete;
  Answered& operator=(const Answered&) = delete;
  ~Answered() { ::sem_destroy(&semaphore_); }
  void Wait() {
    while (::sem_wait(&semaphore_) != 0) continue;  // EINTR
  }
  // Does not touch the object after the waiting thread may have woken and destroyed it.
  void Signal() { ::sem_post(&semaphore_); }

 private:
  sem_t semaphore_;
};

}  // namespace comanda::db
