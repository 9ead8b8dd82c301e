// Sessions of a network that wait for a caller. There are never more than there were callers at once.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "model/network.h"

namespace hifi {

class SessionPool {
 public:
  explicit SessionPool(const Network& network) : network_(network) {}

  std::unique_ptr<NetworkSession> take() {
    {
      const std::lock_guard lock(mutex_);
      if (!free_.empty()) {
        auto session = std::move(free_.back());
        free_.pop_back();
        return session;
      }
    }
    return network_.session();
  }
  void give_back(std::unique_ptr<NetworkSession> session) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(session));
  }

 private:
  const Network& network_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<NetworkSession>> free_;
};

}  // namespace hifi
