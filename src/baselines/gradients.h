// Gradients of a TorchScript model, behind the plug-in `libhifi_baselines.so` (the one that sees libtorch's
// autograd).
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "baselines/metrics.h"

namespace hifi {

// One thread and a plain interpreter, so that the bits do not depend on threads or on earlier calls. Not to
// be called from several threads at once.
class GradientModel {
 public:
  virtual ~GradientModel() = default;

  // d output[k] / d input for each of `count` inputs, into as many numbers as there are inputs.
  virtual void gradients(std::span<const float> inputs, std::size_t count, std::size_t output,
                         std::span<float> out) = 0;

  // Convolutions and normalisations by name, in the order of the computation. A layer stands for its
  // activation: the normalisation and the ReLU that follow it, and nothing else uses its output, belong to
  // it.
  virtual std::vector<std::string> layers() const = 0;

  // GradCAM (doi 10.1007/s11263-019-01228-7) of one input in the resolution of the layer: ReLU of the sum
  // over channels of activation times mean gradient. Empty layer: the last convolution. Throws Error(input):
  // no such layer, or its activation is no map.
  virtual SaliencyMap grad_cam(std::span<const float> input, std::size_t output,
                               const std::string& layer) = 0;
};

// `shape` is that of one input, without the batch. Throws Error(input) if the file is no TorchScript, answers
// with something else than a tensor, or does not take the shape.
std::unique_ptr<GradientModel> open_gradient_model(const std::string& content, const std::string& path,
                                                   const std::vector<std::size_t>& shape);

}  // namespace hifi
