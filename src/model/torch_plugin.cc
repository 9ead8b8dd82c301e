// TorchScript models through libtorch on the processor.
//
// A run uses one thread and a plain interpreter: neither the number of threads nor how often the model has
// run before (profiling executors rewrite the graph after some runs) may change a bit.
#include <ATen/Parallel.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/script.h>
#include <torch/version.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <sstream>

#include "data/text_column.h"
#include "hifi/error.h"
#include "model/network.h"

extern "C" {
void sgemm_();
void openblas_set_num_threads(int) __attribute__((weak));
}

namespace hifi {

namespace {

constexpr std::size_t kRows = 512;

// The file of the matrix product; the reference BLAS takes about 70 times as long as OpenBLAS. Debian's
// alternatives are links.
std::string blas_file() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&sgemm_), &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code unreadable;
  const auto file = std::filesystem::canonical(info.dli_fname, unreadable);
  return unreadable ? info.dli_fname : file.string();
}

void set_up_library() {
  static const bool done = [] {
    at::set_num_threads(1);
    if (openblas_set_num_threads != nullptr) openblas_set_num_threads(1);
    torch::jit::getProfilingMode() = false;
    torch::jit::getExecutorMode() = false;
    return true;
  }();
  static_cast<void>(done);
}

// The part of a libtorch message that people can use: not the trace of TorchScript and C++ frames.
std::string reason(const std::exception& error) {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch_error != nullptr ? torch_error->msg() : error.what();
  const std::size_t trace = text.rfind("RuntimeError: ");
  if (trace != std::string::npos) text.erase(0, trace + 14);
  text.resize(std::min(text.find('\n'), text.size()));
  for (char& c : text) c = c < ' ' || c > '~' ? '?' : c;
  return one_line(text, 200);
}

std::string type_of(const torch::jit::IValue& value) { return value.tagKind(); }

// The tensor of an answer: itself, or a part of a tuple, a list or a dictionary.
class Selector {
 public:
  Selector(std::string path, std::string wanted) : path_(std::move(path)), wanted_(std::move(wanted)) {}

  at::Tensor operator()(const torch::jit::IValue& answer) const {
    if (answer.isTensor()) {
      if (!wanted_.empty() && wanted_ != "0") throw missing("one output");
      return answer.toTensor();
    }
    if (answer.isGenericDict()) return from_dictionary(answer.toGenericDict());
    std::vector<torch::jit::IValue> parts;
    if (answer.isTuple()) {
      parts = answer.toTupleRef().elements().vec();
    } else if (answer.isTensorList()) {
      for (const at::Tensor& part : answer.toTensorVector()) parts.emplace_back(part);
    } else {
      throw input_error(fmt::format("{}: answers with a {}, not with a tensor", path_, type_of(answer)));
    }
    const std::string count = fmt::format("{} outputs", parts.size());
    if (wanted_.empty() && parts.size() != 1) {
      throw input_error(fmt::format("{}: has {}", path_, count),
                        fmt::format("choose one with --output 0 to {}", parts.size() - 1));
    }
    std::size_t index = 0;
    const auto [end, error] = std::from_chars(wanted_.data(), wanted_.data() + wanted_.size(), index);
    if (!wanted_.empty() && (error != std::errc() || end != wanted_.data() + wanted_.size()))
      throw missing(count);
    if (index >= parts.size()) throw missing(count);
    if (!parts[index].isTensor()) {
      throw input_error(
          fmt::format("{}: output {} is a {}, not a tensor", path_, index, type_of(parts[index])));
    }
    return parts[index].toTensor();
  }

 private:
  at::Tensor from_dictionary(const c10::impl::GenericDict& parts) const {
    std::string names;
    for (const auto& part : parts) {
      const std::string name = part.key().isString() ? part.key().toStringRef() : "?";
      if (part.value().isTensor() && (name == wanted_ || (wanted_.empty() && parts.size() == 1)))
        return part.value().toTensor();
      names += (names.empty() ? "" : ", ") + name;
    }
    throw missing("the outputs " + names);
  }

  Error missing(const std::string& has) const {
    return input_error(wanted_.empty() ? fmt::format("{}: has {}", path_, has)
                                       : fmt::format("{}: has no output {}", path_, wanted_),
                       fmt::format("choose with --output; it has {}", has));
  }

  std::string path_;
  std::string wanted_;
};

struct Shared {
  mutable torch::jit::Module module;  // running it is no const operation, but safe from any thread
  Selector select;
  std::string path;
  NetworkInfo info;
};

class TorchSession : public NetworkSession {
 public:
  explicit TorchSession(const Shared& shared) : shared_(shared) {
    const Port& port = shared.info.inputs[0];
    std::vector<std::int64_t> shape{static_cast<std::int64_t>(shared.info.rows)};
    for (const std::size_t d : port.shape) shape.push_back(static_cast<std::int64_t>(d));
    input_ = torch::zeros(shape, port.element == Element::f64 ? torch::kFloat64 : torch::kFloat32);
  }

  void* input(std::size_t) override { return input_.data_ptr(); }

  // The answer of all rows, checked, as doubles or floats in one piece.
  at::Tensor forward() {
    thread_local const bool one_thread = (at::init_num_threads(), true);  // OpenMP counts for each thread
    static_cast<void>(one_thread);
    const c10::InferenceMode no_gradients;
    at::Tensor answer;
    try {
      answer = shared_.select(shared_.module.forward({input_}));
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw model_error(fmt::format("{}: libtorch failed: {}", shared_.path, reason(error)));
    }
    if (answer.dim() == 0 || answer.size(0) != static_cast<std::int64_t>(shared_.info.rows)) {
      std::ostringstream shape;
      shape << answer.sizes();
      throw input_error(fmt::format("{}: its answer has the shape {} for {} rows", shared_.path, shape.str(),
                                    shared_.info.rows),
                        "it must answer with one row per row");
    }
    if (answer.scalar_type() != torch::kFloat32) answer = answer.to(torch::kFloat64);
    return answer.contiguous();
  }

  void run(std::size_t count, std::span<double> out) override {
    const at::Tensor answer = forward();
    const std::size_t numbers = count * shared_.info.output.size();
    if (static_cast<std::size_t>(answer.numel()) != shared_.info.rows * shared_.info.output.size()) {
      throw model_error(fmt::format("{}: its answer changed its shape", shared_.path));
    }
    if (answer.scalar_type() == torch::kFloat32) {
      std::copy_n(answer.data_ptr<float>(), numbers, out.begin());
    } else {
      std::copy_n(answer.data_ptr<double>(), numbers, out.begin());
    }
  }

 private:
  const Shared& shared_;
  at::Tensor input_;
};

torch::jit::Module load(const std::string& content, const std::string& path) {
  try {
    std::istringstream stream(content);
    torch::jit::Module module = torch::jit::load(stream, torch::kCPU);
    module.eval();
    return module;
  } catch (const std::exception& error) {
    throw input_error(fmt::format("{}: cannot be read as TorchScript: {}", path, reason(error)),
                      "save it with torch.jit.script(model).save(\"model.pt\")");
  }
}

bool is_double(const torch::jit::Module& module) {
  for (const at::Tensor& parameter : module.parameters()) {
    if (parameter.is_floating_point()) return parameter.scalar_type() == torch::kFloat64;
  }
  return false;
}

class TorchNetwork : public Network {
 public:
  TorchNetwork(const std::string& content, const NetworkOptions& options)
      : shared_{.module = load(content, options.path),
                .select = Selector(options.path, options.output),
                .path = options.path} {
    check_arguments();
    NetworkInfo& info = shared_.info;
    const bool doubles = is_double(shared_.module);
    info.rows = options.rows != 0 ? options.rows : kRows;
    info.inputs = {
        {.name = "input", .element = doubles ? Element::f64 : Element::f32, .shape = options.shape}};
    info.precision = doubles ? "f64" : "f32";
    info.library = fmt::format("libtorch {}", TORCH_VERSION);
    info.bytes = info.rows * info.inputs[0].size() * element_bytes(info.inputs[0].element);
    check_session_memory(info.bytes, info.rows, options);
    const std::string blas = blas_file();
    if (blas.find("openblas") == std::string::npos) {
      info.notes.push_back(
          fmt::format("libtorch multiplies with {}, many times slower than OpenBLAS: install "
                      "the Debian package libopenblas0-openmp",
                      blas.empty() ? "an unknown BLAS" : blas));
    }
    try_row_shape();
  }

  const NetworkInfo& info() const override { return shared_.info; }
  std::unique_ptr<NetworkSession> session() const override { return std::make_unique<TorchSession>(shared_); }

 private:
  void check_arguments() const {
    const auto method = shared_.module.find_method("forward");
    if (!method) throw input_error(fmt::format("{}: has no method forward", shared_.path));
    const auto& arguments = method->function().getSchema().arguments();
    std::size_t needed = 0;
    for (const auto& argument : arguments) needed += argument.default_value() ? 0 : 1;
    if (needed != 2 && !(needed == 1 && arguments.size() > 1)) {  // the first is the module itself
      throw input_error(fmt::format("{}: its forward takes {} arguments, it must take one tensor of rows",
                                    shared_.path, needed - 1));
    }
  }

  // TorchScript does not say how wide its input is: a row of zeros tells.
  void try_row_shape() {
    NetworkInfo& info = shared_.info;
    try {
      const at::Tensor answer = TorchSession(shared_).forward();
      for (std::int64_t d = 1; d < answer.dim(); ++d)
        info.output.shape.push_back(static_cast<std::size_t>(answer.size(d)));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::model) throw;
      std::string reason = error.what();  // which names the file, too
      if (reason.starts_with(shared_.path + ": ")) reason.erase(0, shared_.path.size() + 2);
      const auto& shape = info.inputs[0].shape;
      if (shape.size() > 1) {
        throw input_error(
            fmt::format("{}: does not take inputs of [{}]: {}", shared_.path, fmt::join(shape, ", "), reason),
            "check size, channels and layout of the recipe");
      }
      throw input_error(fmt::format("{}: does not take rows of {} columns: {}", shared_.path,
                                    info.inputs[0].size(), reason),
                        "name the columns that it reads, in its order, with --features");
    }
    info.output.element = Element::f64;
  }

  Shared shared_;
};

}  // namespace
}  // namespace hifi

extern "C" {
void hifi_open_network(const std::string& content, const hifi::NetworkOptions& options,
                       std::unique_ptr<hifi::Network>& network);
void hifi_open_network(const std::string& content, const hifi::NetworkOptions& options,
                       std::unique_ptr<hifi::Network>& network) {
  try {
    hifi::set_up_library();
    network = std::make_unique<hifi::TorchNetwork>(content, options);
  } catch (const hifi::Error&) {
    throw;
  } catch (const std::exception& error) {
    throw hifi::input_error(options.path + ": cannot be used: " + hifi::reason(error));
  }
}
}
