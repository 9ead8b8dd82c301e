#include "core/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace hifi {

namespace {

// One call of parallel_for: an index dispenser and the first error.
struct Job {
  std::size_t count;
  const std::function<void(std::size_t)>& body;
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t error_index = 0;

  void work() {
    for (;;) {
      const std::size_t index = next.fetch_add(1);
      if (index >= count) return;
      try {
        body(index);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!error || index < error_index) {
          error = std::current_exception();
          error_index = index;
        }
        next.store(count);
      }
    }
  }
};

}  // namespace

struct Workers::Pool {
  std::mutex mutex;
  std::condition_variable_any wake;
  std::condition_variable done;
  Job* job = nullptr;
  std::size_t generation = 0;
  std::size_t busy = 0;
  std::vector<std::jthread> threads;  // last member: joined before the rest goes

  void run(std::stop_token stop) {
    std::size_t seen = 0;
    std::unique_lock lock(mutex);
    while (wake.wait(lock, stop, [&] { return generation != seen; })) {
      seen = generation;
      Job* mine = job;
      if (mine == nullptr) continue;
      ++busy;
      lock.unlock();
      mine->work();
      lock.lock();
      --busy;
      done.notify_all();
    }
  }
};

Workers::Workers(std::size_t threads)
    : threads_(threads != 0 ? threads : std::max(1U, std::thread::hardware_concurrency())),
      pool_(std::make_unique<Pool>()) {
  for (std::size_t i = 1; i < threads_; ++i) {
    pool_->threads.emplace_back([pool = pool_.get()](std::stop_token stop) { pool->run(stop); });
  }
}

Workers::~Workers() = default;

void Workers::parallel_for(std::size_t count, const std::function<void(std::size_t)>& body) {
  Job job{.count = count, .body = body};
  if (threads_ > 1 && count > 1) {
    {
      const std::lock_guard lock(pool_->mutex);
      pool_->job = &job;
      ++pool_->generation;
    }
    pool_->wake.notify_all();
  }
  job.work();
  {
    std::unique_lock lock(pool_->mutex);
    pool_->job = nullptr;
    pool_->done.wait(lock, [&] { return pool_->busy == 0; });
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace hifi
