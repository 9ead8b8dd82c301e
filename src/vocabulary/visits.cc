#include "vocabulary/visits.h"

#include <fmt/format.h>

#include "hifi/error.h"

namespace hifi {

namespace {

constexpr std::size_t kVisitPhase = 2;
constexpr std::size_t kHead = 3;  // range, first and second player + 1; 0: none

}  // namespace

VisitStore::VisitStore(RunFile* file, std::size_t players, std::size_t slices) : file_(file) {
  if (file == nullptr) return;
  const auto whole = [&](double value, double most) {
    if (value >= 0 && value <= most && value == static_cast<double>(static_cast<std::uint64_t>(value)))
      return static_cast<std::uint64_t>(value);
    throw input_error(fmt::format("{}: the run file is damaged: a visit is out of range", file->path()),
                      "compute it again");
  };
  file->for_each_cell(kVisitPhase, players, kHead + slices,
                      [&](const Coalition& c, std::span<const double> v) {
                        const auto player = [&](double value) {
                          return static_cast<std::uint32_t>(whole(value, static_cast<double>(players)) - 1);
                        };
                        visits_.push_back({.coalition = c,
                                           .range = whole(v[0], 9e15),
                                           .first = player(v[1]),
                                           .second = player(v[2]),
                                           .slices = {v.begin() + kHead, v.end()}});
                      });
  saved_ = visits_.size();
}

void VisitStore::save(const std::function<void()>& more) {
  if (file_ == nullptr) return;
  file_->commit([&] {
    for (std::size_t k = saved_; k < visits_.size(); ++k) {
      const Visit& visit = visits_[k];
      std::vector<double> values{static_cast<double>(visit.range), static_cast<double>(visit.first + 1),
                                 static_cast<double>(visit.second + 1)};
      values.insert(values.end(), visit.slices.begin(), visit.slices.end());
      file_->put_cell(kVisitPhase, k, visit.coalition, values);
    }
    more();
  });
  saved_ = visits_.size();
}

}  // namespace hifi
