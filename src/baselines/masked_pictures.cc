#include "baselines/masked_pictures.h"

#include <algorithm>

#include "hifi/error.h"

namespace hifi {

MaskedPictures::MaskedPictures(const Network& network, bool channels_first)
    : network_(network), channels_first_(channels_first), sessions_(network) {
  const NetworkInfo& info = network.info();
  if (info.inputs.size() != 1 || info.inputs[0].element != Element::f32)
    throw input_error("the model must have one input of float32 numbers");
}

std::vector<double> MaskedPictures::answers(std::span<const float> image, std::span<const float> fill,
                                            std::span<const float> shares, std::size_t count) {
  const std::size_t rows = network_.info().rows, outputs = network_.info().output.size();
  const std::size_t size = image.size(), pixels = shares.size() / count, channels = size / pixels;
  std::vector<double> result(count * outputs);
  auto session = sessions_.take();
  auto* pictures = static_cast<float*>(session->input(0));
  for (std::size_t first = 0; first < count; first += rows) {
    const std::size_t shown = std::min(rows, count - first);
    for (std::size_t k = 0; k < shown; ++k)
      for (std::size_t i = 0; i < size; ++i) {
        const std::size_t pixel = channels_first_ ? i % pixels : i / channels;
        const float share = shares[(first + k) * pixels + pixel];
        pictures[k * size + i] = share == 1 ? image[i] : fill[i] + share * (image[i] - fill[i]);
      }
    // What is left over of the batch repeats its first picture.
    for (std::size_t k = shown; k < rows; ++k) std::copy_n(pictures, size, pictures + k * size);
    session->run(shown, std::span(result).subspan(first * outputs, shown * outputs));
  }
  sessions_.give_back(std::move(session));  // not after an error: who knows what state it is in
  return result;
}

}  // namespace hifi
