// A small pool of threads under one `parallel_for`.
//
// Which thread runs which index is not fixed, so bodies must write to places of their own; then
// the result is the same for any number of threads. The first error (by index of the body that
// threw) is rethrown after all running bodies have ended; no further ones are started.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace hifi {

class Workers {
 public:
  // 0 threads: one per core.
  explicit Workers(std::size_t threads = 0);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  std::size_t threads() const { return threads_; }

  // body(index) for every index in [0, count). Not reentrant: a body must not call it.
  void parallel_for(std::size_t count, const std::function<void(std::size_t)>& body);

 private:
  struct Pool;
  std::size_t threads_;
  std::unique_ptr<Pool> pool_;
};

}  // namespace hifi
