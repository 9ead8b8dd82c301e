#include <cmath>
#include <cstdint>
#include <limits>
#include <openvino/frontend/onnx/extension/conversion.hpp>
#include <openvino/opsets/opset14.hpp>
#include <string>
#include <utility>

#include "hifi/error.h"
#include "model/openvino_operators.h"

namespace hifi {

namespace {

namespace op = ov::opset14;
using Tensor = ov::Output<ov::Node>;
using Context = ov::frontend::NodeContext;
using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

// Errors of a conversion are reported with the operator's name.
[[noreturn]] void refuse(const Context& node, const std::string& what) {
  throw input_error(node.get_op_type() + ": " + what);
}

// Real attributes arrive as doubles.
Floats reals(const Context& node, const char* name, Floats otherwise = {}) {
  const ov::Any any = node.get_attribute_as_any(name);
  if (any.empty()) return otherwise;
  if (any.is<Floats>()) return any.as<Floats>();
  Floats result;
  for (const double value : any.as<std::vector<double>>()) result.push_back(static_cast<float>(value));
  return result;
}
float real(const Context& node, const char* name, float otherwise) {
  const ov::Any any = node.get_attribute_as_any(name);
  if (any.empty()) return otherwise;
  return any.is<float>() ? any.as<float>() : static_cast<float>(any.as<double>());
}

template <class T>
Tensor constant(const std::vector<T>& values, const ov::Shape& shape) {
  return op::Constant::create(ov::element::from<T>(), shape, values);
}
Tensor number(float value) { return constant<float>({value}, {}); }
Tensor axes(std::int64_t axis) { return constant<std::int64_t>({axis}, {1}); }
Tensor to(const ov::element::Type& type, const Tensor& x) {
  return x.get_element_type() == type ? x : std::make_shared<op::Convert>(x, type)->output(0);
}
Tensor as_float(const Tensor& x) { return to(ov::element::f32, x); }
template <class Operator, class... Inputs>
Tensor make(Inputs&&... inputs) {
  return std::make_shared<Operator>(std::forward<Inputs>(inputs)...)->output(0);
}

Tensor apply_post_transform(const Context& node, const Tensor& scores) {
  const auto kind = node.get_attribute<std::string>("post_transform", "NONE");
  if (kind == "NONE") return scores;
  if (kind == "LOGISTIC") return make<op::Sigmoid>(scores);
  if (kind == "SOFTMAX") return make<op::Softmax>(scores, std::size_t{1});
  refuse(node, "post_transform " + kind + " is not supported");
}

ov::OutputVector scaler(const Context& node) {
  const auto offset = reals(node, "offset", {0});
  const auto scale = reals(node, "scale", {1});
  const Tensor centred = make<op::Subtract>(as_float(node.get_input(0)), constant(offset, {offset.size()}));
  return {make<op::Multiply>(centred, constant(scale, {scale.size()}))};
}

// A row of zeros stays as it is.
ov::OutputVector normalizer(const Context& node) {
  const auto kind = node.get_attribute<std::string>("norm", "MAX");
  const Tensor x = as_float(node.get_input(0));
  const Tensor last = axes(-1);
  Tensor norm;
  if (kind == "MAX") {
    norm = make<op::ReduceMax>(x, last, true);
  } else if (kind == "L1") {
    norm = make<op::ReduceL1>(x, last, true);
  } else if (kind == "L2") {
    norm = make<op::ReduceL2>(x, last, true);
  } else {
    refuse(node, "norm " + kind + " is not supported");
  }
  const Tensor is_zero = make<op::Equal>(norm, number(0));
  return {make<op::Divide>(x, make<op::Select>(is_zero, number(1), norm))};
}

ov::OutputVector imputer(const Context& node) {
  Tensor x = node.get_input(0);
  const auto whole = node.get_attribute<Integers>("imputed_value_int64s", {});
  if (!whole.empty()) {
    const auto replaced = node.get_attribute<std::int64_t>("replaced_value_int64", 0);
    x = to(ov::element::i64, x);
    const Tensor gone = make<op::Equal>(x, constant<std::int64_t>({replaced}, {}));
    return {make<op::Select>(gone, constant(whole, {whole.size()}), x)};
  }
  const auto values = reals(node, "imputed_value_floats");
  if (values.empty()) refuse(node, "it has no imputed_value_floats");
  const auto replaced = real(node, "replaced_value_float", 0);
  x = as_float(x);
  const Tensor gone = std::isnan(replaced) ? make<op::IsNaN>(x) : make<op::Equal>(x, number(replaced));
  return {make<op::Select>(gone, constant(values, {values.size()}), x)};
}

// x * coefficients' + intercepts, a column per target.
Tensor linear(const Context& node, std::size_t targets) {
  const auto coefficients = reals(node, "coefficients");
  auto intercepts = reals(node, "intercepts");
  if (targets == 0 || coefficients.empty() || coefficients.size() % targets != 0)
    refuse(node, "its coefficients do not fit its targets");
  if (intercepts.empty()) intercepts.assign(targets, 0);
  if (intercepts.size() != targets) refuse(node, "its intercepts do not fit its targets");
  const Tensor weights = constant(coefficients, {targets, coefficients.size() / targets});
  const Tensor product = make<op::MatMul>(as_float(node.get_input(0)), weights, false, true);
  return make<op::Add>(product, constant(intercepts, {targets}));
}

ov::OutputVector linear_regressor(const Context& node) {
  const auto targets = node.get_attribute<std::int64_t>("targets", 1);
  return {apply_post_transform(node, linear(node, static_cast<std::size_t>(targets)))};
}

ov::OutputVector linear_classifier(const Context& node) {
  const auto intercepts = reals(node, "intercepts");
  const auto names = node.get_attribute<std::vector<std::string>>("classlabels_strings", {});
  const auto numbers = node.get_attribute<Integers>("classlabels_ints", {});
  const std::size_t classes = names.empty() ? numbers.size() : names.size();
  const std::size_t targets = intercepts.empty() ? classes : intercepts.size();
  Tensor scores = apply_post_transform(node, linear(node, targets));
  if (targets == 1 && classes == 2) {
    scores = make<op::Concat>(ov::OutputVector{make<op::Subtract>(number(1), scores), scores}, 1);
  }
  const Tensor winner =
      make<op::Squeeze>(make<op::TopK>(scores, constant<std::int64_t>({1}, {}), 1, op::TopK::Mode::MAX,
                                       op::TopK::SortType::SORT_VALUES, ov::element::i64)
                            .get_node_shared_ptr()
                            ->output(1),
                        axes(1));
  if (numbers.empty()) return {winner, scores};  // positions: OpenVINO has no labels of text
  return {make<op::Gather>(constant(numbers, {numbers.size()}), winner, axes(0)), scores};
}

// The position of x among the keys from 1, 0 where it is none of them: [.., 1] against [keys].
template <class T>
Tensor position(const Tensor& x, const std::vector<T>& keys) {
  const Tensor each = make<op::Unsqueeze>(to(ov::element::from<T>(), x), axes(-1));
  Tensor hit = make<op::Equal>(each, constant(keys, {keys.size()}));
  if constexpr (std::is_floating_point_v<T>) {  // NaN is a key like any other
    std::vector<char> missing;
    for (const T key : keys) missing.push_back(std::isnan(key) ? 1 : 0);
    const Tensor is_missing = op::Constant::create(ov::element::boolean, {keys.size()}, missing);
    hit = make<op::LogicalOr>(hit, make<op::LogicalAnd>(make<op::IsNaN>(each), is_missing));
  }
  Integers numbers(keys.size());
  for (std::size_t k = 0; k < keys.size(); ++k) numbers[k] = static_cast<std::int64_t>(k + 1);
  const Tensor marked =
      make<op::Select>(hit, constant(numbers, {keys.size()}), constant<std::int64_t>({0}, {}));
  return make<op::ReduceMax>(marked, axes(-1), false);
}

template <class T>
Tensor look_up(const Tensor& position, std::vector<T> values, T otherwise) {
  values.insert(values.begin(), otherwise);
  return make<op::Gather>(constant(values, {values.size()}), position, axes(0));
}

ov::OutputVector label_encoder(const Context& node) {
  const auto float_keys = reals(node, "keys_floats");
  const auto integer_keys = node.get_attribute<Integers>("keys_int64s", {});
  if (float_keys.empty() && integer_keys.empty()) refuse(node, "keys that are text are not supported");
  const Tensor found = float_keys.empty() ? position(node.get_input(0), integer_keys)
                                          : position(node.get_input(0), float_keys);
  const std::size_t keys = std::max(float_keys.size(), integer_keys.size());
  const auto floats = reals(node, "values_floats");
  const auto integers = node.get_attribute<Integers>("values_int64s", {});
  if (floats.size() != keys && integers.size() != keys)
    refuse(node, "values that are text are not supported");
  if (!floats.empty()) return {look_up(found, floats, real(node, "default_float", -0.0F))};
  return {look_up<std::int64_t>(found, integers, node.get_attribute<std::int64_t>("default_int64", -1))};
}

ov::OutputVector one_hot_encoder(const Context& node) {
  const auto categories = node.get_attribute<Integers>("cats_int64s", {});
  if (categories.empty()) refuse(node, "categories that are text are not supported");
  const Tensor each = make<op::Unsqueeze>(to(ov::element::i64, node.get_input(0)), axes(-1));
  return {as_float(make<op::Equal>(each, constant(categories, {categories.size()})))};
}

ov::OutputVector binarizer(const Context& node) {
  const Tensor x = as_float(node.get_input(0));
  return {as_float(make<op::Greater>(x, number(real(node, "threshold", 0))))};
}

ov::OutputVector array_feature_extractor(const Context& node) {
  const Tensor columns = make<op::Reshape>(node.get_input(1), axes(-1), false);
  return {make<op::Gather>(node.get_input(0), columns, axes(-1))};
}

ov::OutputVector feature_vectorizer(const Context& node) {
  ov::OutputVector parts;
  for (std::size_t k = 0; k < node.get_input_size(); ++k)
    parts.push_back(as_float(node.get_input(static_cast<int>(k))));
  return {make<op::Concat>(parts, 1)};
}

}  // namespace

std::vector<std::shared_ptr<ov::Extension>> onnx_ml_operators() {
  const std::pair<const char*, ov::OutputVector (*)(const Context&)> operators[] = {
      {"Scaler", scaler},
      {"Normalizer", normalizer},
      {"Imputer", imputer},
      {"LinearRegressor", linear_regressor},
      {"LinearClassifier", linear_classifier},
      {"LabelEncoder", label_encoder},
      {"OneHotEncoder", one_hot_encoder},
      {"Binarizer", binarizer},
      {"ArrayFeatureExtractor", array_feature_extractor},
      {"FeatureVectorizer", feature_vectorizer}};
  std::vector<std::shared_ptr<ov::Extension>> result;
  for (const auto& [name, convert] : operators) {
    result.push_back(std::make_shared<ov::frontend::onnx::ConversionExtension>(name, "ai.onnx.ml", convert));
  }
  return result;
}

}  // namespace hifi
