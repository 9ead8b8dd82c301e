// The flags of `image` and `plan image`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "audit/image_request.h"
#include "audit/image_subject.h"
#include "run_options.h"

namespace hifi::app {

class ImageOptions {
 public:
  void add_to(CLI::App& verb);
  // Throws Error(usage) for lists, sizes and flags that do not go together.
  ImageRequest request() const;
  Shard shard() const { return run_.shard(); }

 private:
  ImageRequest request_;
  std::string classes_;
  RunOptions run_;
};

// The plan, one line each, for people.
std::string plan_text(const ImageSubject& subject);
// hifi.plan/1
// By a short probe.
double forecast_seconds(const ImageSubject& subject);

}  // namespace hifi::app
