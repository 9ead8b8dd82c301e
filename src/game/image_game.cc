#include "game/image_game.h"

#include <algorithm>
#include <chrono>

#include "hifi/error.h"

namespace hifi {

ImageNetwork::ImageNetwork(const Network& network, bool channels_first)
    : network_(network), channels_first_(channels_first), sessions_(network) {}

void ImageNetwork::answers(const ImageInput& input, std::span<const ImageCall> calls, std::span<double> out,
                           Workers& workers) {
  const std::size_t rows = network_.info().rows;
  const std::size_t batches = (calls.size() + rows - 1) / rows;
  workers.parallel_for(batches, [&](std::size_t b) {
    const std::size_t count = std::min(rows, calls.size() - b * rows);
    show(input, calls.subspan(b * rows, count), out.subspan(b * rows * outputs(), count * outputs()));
  });
  shown_ += calls.size();
}

void ImageNetwork::show(const ImageInput& input, std::span<const ImageCall> calls, std::span<double> out) {
  auto session = sessions_.take();
  const std::size_t size = input.image.size();
  const bool doubles = network_.info().inputs[0].element == Element::f64;
  std::vector<float> room(doubles ? size * calls.size() : 0);
  float* first = doubles ? room.data() : static_cast<float*>(session->input(0));
  std::vector<std::int16_t> shares;
  for (std::size_t k = 0; k < calls.size(); ++k) {
    const ImageCall& call = calls[k];
    shares.resize(call.mask->pixels());
    call.mask->shares(*call.coalition, shares);
    mix(shares, input.image, input.fills[call.fill], channels_first_, first + k * size);
  }
  // What is left over of the batch repeats its first picture.
  const std::size_t rows = network_.info().rows;
  if (doubles) {
    auto* to = static_cast<double*>(session->input(0));
    std::copy(room.begin(), room.end(), to);
    for (std::size_t k = calls.size(); k < rows; ++k) std::copy_n(to, size, to + k * size);
  } else {
    for (std::size_t k = calls.size(); k < rows; ++k) std::copy_n(first, size, first + k * size);
  }
  const auto start = std::chrono::steady_clock::now();
  session->run(calls.size(), out);
  const auto took = std::chrono::steady_clock::now() - start;
  nanoseconds_ += static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count());
  sessions_.give_back(std::move(session));  // not after an error: who knows what state it is in
}

void ImageGame::losses(const CoalitionList& coalitions, std::span<const Draw> draws, std::span<double> out,
                       Workers& workers) {
  std::vector<Coalition> list(coalitions.size(), Coalition(players()));
  for (std::size_t c = 0; c < list.size(); ++c) {
    for (std::size_t i = 0; i < players(); ++i) {
      if (coalitions.contains(c, i)) list[c].insert(i);
    }
  }
  std::vector<ImageCall> calls;
  for (const Draw& draw : draws) {
    for (const Coalition& c : list) calls.push_back({&mask_, &c, draw.background});
  }
  std::vector<double> answers(calls.size() * network_.outputs());
  network_.answers(input_, calls, answers, workers);
  for (std::size_t k = 0; k < calls.size(); ++k)
    out[k] = reading_(std::span(answers).subspan(k * network_.outputs(), network_.outputs())).loss;
}

void ImageGame::readings(std::span<const Coalition> coalitions, std::span<Reading> out, Workers& workers) {
  std::vector<ImageCall> calls;
  for (const Coalition& c : coalitions) {
    for (std::size_t f = 0; f < input_.fills.size(); ++f) calls.push_back({&mask_, &c, f});
  }
  std::vector<double> answers(calls.size() * network_.outputs());
  network_.answers(input_, calls, answers, workers);
  for (std::size_t k = 0; k < calls.size(); ++k)
    out[k] = reading_(std::span(answers).subspan(k * network_.outputs(), network_.outputs()));
}

}  // namespace hifi
