// image MODEL IMAGE BUDGET [CHECK]: pictures per second of the whole path of an image (read, fit, fill, mask,
// infer, read the answers, values, pairs, regions) against the bare model on batches of the same shape and
// content, in turns. With CHECK, only writes a few pictures and the answers to them for a judge: float32
// pictures, then float64 answers.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <vector>

#include "audit/image_work.h"
#include "core/files.h"
#include "hifi/error.h"

using namespace hifi;

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::size_t kChecked = 12;
constexpr int kRounds = 5;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A batch as the path shows it: the first coalitions of the plan.
std::vector<float> pictures(const ImageSubject& s, std::size_t count) {
  const ImageInput input = s.input(0);
  const PatchMask& mask = *s.grids[0].mask;
  std::vector<float> batch(count * input.image.size());
  std::vector<std::int16_t> shares(mask.pixels());
  for (std::size_t k = 0; k < count; ++k) {
    mask.shares(s.plans[0].coalitions[k % s.plans[0].coalitions.size()], shares);
    mix(shares, input.image, input.fills[0], s.recipe.channels_first, batch.data() + k * input.image.size());
  }
  return batch;
}

void write_check(const ImageSubject& s, const std::string& path, Workers& workers) {
  ImageNetwork network(*s.model.network, s.recipe.channels_first);
  const ImageInput input = s.input(0);
  std::vector<ImageCall> calls;
  for (std::size_t k = 0; k < kChecked; ++k)
    calls.push_back({s.grids[0].mask.get(), &s.plans[0].coalitions[k], 0});
  std::vector<double> answers(calls.size() * network.outputs());
  network.answers(input, calls, answers, workers);
  const std::vector<float> shown = pictures(s, kChecked);
  std::string bytes(reinterpret_cast<const char*>(shown.data()), shown.size() * sizeof(float));
  bytes.append(reinterpret_cast<const char*>(answers.data()), answers.size() * sizeof(double));
  write_file(path, bytes);
}

// The model alone: the batch is in the sessions already.
double bare(const ImageSubject& s, SessionPool& sessions, std::size_t calls, Workers& workers) {
  const std::size_t rows = s.model.network->info().rows;
  const auto start = Clock::now();
  workers.parallel_for((calls + rows - 1) / rows, [&](std::size_t) {
    auto session = sessions.take();
    std::vector<double> out(rows * s.model.network->info().output.size());
    session->run(rows, out);
    sessions.give_back(std::move(session));
  });
  return seconds_since(start);
}

// Opens a session for each thread and puts the batch into it.
void fill_sessions(const ImageSubject& s, SessionPool& sessions, Workers& workers) {
  const std::vector<float> batch = pictures(s, s.model.network->info().rows);
  std::vector<std::unique_ptr<NetworkSession>> taken;
  for (std::size_t t = 0; t < workers.threads(); ++t) taken.push_back(sessions.take());
  for (auto& session : taken) {
    std::memcpy(session->input(0), batch.data(), batch.size() * sizeof(float));
    sessions.give_back(std::move(session));
  }
}

void measure(const ImageSubject& s, Workers& workers) {
  ImageNetwork network(*s.model.network, s.recipe.channels_first);
  SessionPool sessions(*s.model.network);
  fill_sessions(s, sessions, workers);
  const ImageRecord first = audit_image(s, network, 0, workers);
  const std::size_t calls = nlohmann::json::parse(first.details).at("calls");
  bare(s, sessions, calls, workers);
  std::vector<double> whole, alone, within;
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t before = network.use().nanoseconds;
    const auto start = Clock::now();
    const ImageRecord again = audit_image(s, network, 0, workers);
    whole.push_back(seconds_since(start));
    within.push_back(1e-9 * static_cast<double>(network.use().nanoseconds - before) / whole.back() /
                     static_cast<double>(workers.threads()));
    if (again.details != first.details || again.grids[0].values != first.grids[0].values)
      throw model_error("the answers differ from run to run");
    alone.push_back(bare(s, sessions, calls, workers));
  }
  std::sort(whole.begin(), whole.end());
  std::sort(alone.begin(), alone.end());
  std::sort(within.begin(), within.end());
  const auto count = static_cast<double>(calls);
  fmt::print("{} pictures of {} x {} x {}, batches of {}, {} threads, median of {}\n", calls,
             s.recipe.channels, s.recipe.height, s.recipe.width, s.model.network->info().rows,
             workers.threads(), kRounds);
  fmt::print("bare model  {:8.1f} pictures/s\nwhole path  {:8.1f} pictures/s, {:.1f} % of the bare model\n",
             count / alone[kRounds / 2], count / whole[kRounds / 2],
             100 * alone[kRounds / 2] / whole[kRounds / 2]);
  // Less shaken by whatever else the machine does: the share of all threads' time that is the network's.
  fmt::print("of the path's time on all threads the network has {:.1f} %\n", 100 * within[kRounds / 2]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    fmt::print("benchmarks/image.py makes the models and runs this\n");
    return 0;
  }
  try {
    Workers workers(0);
    ImageRequest request{.model = argv[1], .images = argv[2], .loss = "logit", .class_name = "0"};
    request.budget = std::strtoull(argv[3], nullptr, 10);
    const ImageSubject subject = open_image_subject(request, workers);
    if (argc > 4) {
      write_check(subject, argv[4], workers);
    } else {
      measure(subject, workers);
    }
  } catch (const Error& error) {
    fmt::print(stderr, "{} ({})\n", error.what(), error.hint());
    return static_cast<int>(error.code());
  }
  return 0;
}
