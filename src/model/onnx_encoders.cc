// The steps of ai.onnx.ml that stand around the trees of an exported scikit-learn pipeline.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "model/onnx_compiler.h"

namespace hifi::onnx {

namespace {

std::vector<double> numbers_of(const Node& node, std::string_view name) {
  const Attribute* attribute = node.find(name);
  if (attribute == nullptr) return {};
  if (!attribute->numbers.empty()) return attribute->numbers;
  return {attribute->integers.begin(), attribute->integers.end()};
}

// One number, or one per column.
double of_column(const std::vector<double>& numbers, std::size_t column) {
  return numbers.size() == 1 ? numbers[0] : numbers[column];
}

void check_per_column(const Compiler& compiler, const Node& node, const std::vector<double>& numbers,
                      std::size_t columns, const char* name) {
  if (numbers.size() == 1 || numbers.size() == columns) return;
  compiler.fail(node, fmt::format("{} has {} numbers for {} columns", name, numbers.size(), columns));
}

const Slot& number_input(const Compiler& compiler, const Node& node) {
  const Slot& slot = compiler.slot(compiler.input(node, 0));
  if (slot.type == Element::text || slot.shape_of >= 0) compiler.fail(node, "works on numbers only");
  return slot;
}

// function(column, value), cell by cell.
template <class Function>
void add_per_column(Compiler& compiler, const Node& node, Element type, Function function) {
  const std::size_t from = compiler.input(node, 0);
  const Slot& slot = compiler.slot(from);
  const std::size_t columns = slot.columns;
  compiler.add(node, {from}, {.type = type, .columns = columns, .sources = slot.sources},
               [=](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
                 values[to].resize(rows * columns);
                 for (std::size_t i = 0; i < rows * columns; ++i) {
                   values[to][i] = round_to(type, function(i % columns, values[from][i]));
                 }
               });
}

void compile_scaler(Compiler& compiler, const Node& node) {
  const Slot& slot = number_input(compiler, node);
  std::vector<double> offset = numbers_of(node, "offset");
  std::vector<double> scale = numbers_of(node, "scale");
  if (offset.empty()) offset = {0};
  if (scale.empty()) scale = {1};
  check_per_column(compiler, node, offset, slot.columns, "offset");
  check_per_column(compiler, node, scale, slot.columns, "scale");
  add_per_column(compiler, node, Element::float32, [=](std::size_t column, double value) {
    const auto centred = static_cast<float>(value) - static_cast<float>(of_column(offset, column));
    return static_cast<double>(centred * static_cast<float>(of_column(scale, column)));
  });
}

void compile_imputer(Compiler& compiler, const Node& node) {
  const Slot& slot = number_input(compiler, node);
  std::vector<double> imputed = numbers_of(node, "imputed_value_floats");
  const bool integers = imputed.empty();
  if (integers) imputed = numbers_of(node, "imputed_value_int64s");
  check_per_column(compiler, node, imputed, slot.columns, "imputed_value");
  const Attribute* replaced = node.find(integers ? "replaced_value_int64" : "replaced_value_float");
  const double given = replaced == nullptr ? 0 : static_cast<double>(replaced->integer);
  const double missing = replaced != nullptr && !integers ? replaced->number : given;
  add_per_column(compiler, node, slot.type, [=](std::size_t column, double value) {
    const bool replace = std::isnan(missing) ? std::isnan(value) : value == missing;
    return replace ? of_column(imputed, column) : value;
  });
}

void compile_binarizer(Compiler& compiler, const Node& node) {
  const Slot& slot = number_input(compiler, node);
  const Attribute* threshold = node.find("threshold");
  const double bound = threshold == nullptr ? 0 : threshold->number;
  add_per_column(compiler, node, slot.type,
                 [=](std::size_t, double value) { return value > bound ? 1.0 : 0.0; });
}

// Single precision, where squares overflow and vanish, as onnxruntime has it. A row of length 0 stays.
void normalize(const std::string& norm, const double* in, std::size_t columns, double* out) {
  float length = norm == "MAX" ? std::numeric_limits<float>::lowest() : 0.0F;
  for (std::size_t c = 0; c < columns; ++c) {
    const auto value = static_cast<float>(in[c]);
    if (norm == "MAX") length = std::max(length, value);
    if (norm == "L1") length += std::fabs(value);
    if (norm == "L2") length += value * value;
  }
  for (std::size_t c = 0; c < columns; ++c) {
    const auto value = static_cast<float>(in[c]);
    float scaled = value / length;
    if (norm == "L2") scaled = std::copysign(std::sqrt(value * value / length), value);
    out[c] = static_cast<double>(length == 0 ? value : scaled);
  }
}

// The one step that mixes columns.
void compile_normalizer(Compiler& compiler, const Node& node) {
  const Slot& slot = number_input(compiler, node);
  const Attribute* attribute = node.find("norm");
  const std::string norm = attribute == nullptr ? "MAX" : attribute->text;
  if (norm != "MAX" && norm != "L1" && norm != "L2") {
    compiler.fail(node, fmt::format("norm \"{}\" is unknown", shown(norm)));
  }
  const std::size_t from = compiler.input(node, 0);
  const std::size_t columns = slot.columns;
  Slot output{.columns = columns};
  output.sources.assign(columns, merged_source(slot));
  compiler.add(
      node, {from}, std::move(output), [=](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
        values[to].resize(rows * columns);
        for (std::size_t r = 0; r < rows; ++r) {
          normalize(norm, values[from].data() + r * columns, columns, values[to].data() + r * columns);
        }
      });
}

// Texts come as their numbers in the categories of the column, which are known in the second pass.
std::vector<std::vector<std::string>> texts_of_columns(Compiler& compiler, const Node& node, const Slot& slot,
                                                       const std::vector<std::string>& asked) {
  std::vector<std::vector<std::string>> texts;
  for (const std::int32_t source : slot.sources) {
    if (source < 0) compiler.fail(node, "its texts do not come straight from a column");
    compiler.ask_for_texts(source, asked);
    texts.push_back(compiler.program().categories[static_cast<std::size_t>(source)]);
  }
  return texts;
}

// A list of keys or values: an attribute of numbers, of texts, or a tensor.
struct KeyList {
  std::vector<double> numbers;
  std::vector<std::string> texts;
  Element type = Element::float32;
};

KeyList key_list(const Compiler& compiler, const Node& node, const std::string& prefix) {
  if (const Attribute* a = node.find(prefix + "_strings")) return {{}, a->texts, Element::text};
  if (const Attribute* a = node.find(prefix + "_int64s")) {
    return {{a->integers.begin(), a->integers.end()}, {}, Element::int64};
  }
  if (const Attribute* a = node.find(prefix + "_floats")) return {a->numbers, {}, Element::float32};
  const Attribute* tensor = node.find(prefix + "_tensor");
  if (tensor == nullptr || tensor->tensors.size() != 1) compiler.fail(node, fmt::format("has no {}", prefix));
  const Tensor& list = tensor->tensors.front();
  if (list.type == Element::text) return {{}, tensor_texts(list, compiler.path()), Element::text};
  return {tensor_numbers(list, compiler.path()), {}, list.type};
}

double default_value(const Compiler& compiler, const Node& node, Element type) {
  if (const Attribute* tensor = node.find("default_tensor");
      tensor != nullptr && tensor->tensors.size() == 1) {
    const std::vector<double> cells = tensor_numbers(tensor->tensors.front(), compiler.path());
    if (cells.size() == 1) return cells.front();
  }
  if (type == Element::int64) {
    const Attribute* value = node.find("default_int64");
    return value == nullptr ? -1 : static_cast<double>(value->integer);
  }
  const Attribute* value = node.find("default_float");
  return value == nullptr ? -0.0 : value->number;
}

void compile_label_encoder(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  const Slot slot = compiler.slot(from);
  if (slot.constant) compiler.fail(node, "of a constant is not supported");
  const KeyList keys = key_list(compiler, node, "keys");
  const KeyList values = key_list(compiler, node, "values");
  if (values.type == Element::text) compiler.fail(node, "gives texts, which is not supported");
  const std::size_t count = keys.type == Element::text ? keys.texts.size() : keys.numbers.size();
  if (count != values.numbers.size()) {
    compiler.fail(node, fmt::format("has {} keys and {} values", count, values.numbers.size()));
  }
  if ((keys.type == Element::text) != (slot.type == Element::text)) {
    compiler.fail(node, "its keys are of another type than its input");
  }
  const double otherwise = default_value(compiler, node, values.type);
  std::unordered_map<double, double> map;
  double missing = otherwise;
  for (std::size_t k = 0; k < keys.numbers.size(); ++k) {
    if (std::isnan(keys.numbers[k])) {
      missing = values.numbers[k];
    } else {
      map.emplace(keys.numbers[k], values.numbers[k]);
    }
  }
  // Per column: a text's number -> its value. A missing text is the empty one.
  std::vector<std::vector<double>> value_of_code;
  if (keys.type == Element::text) {
    const auto value_of = [&](const std::string& text) {
      const auto found = std::ranges::find(keys.texts, text);
      return found == keys.texts.end() ? otherwise
                                       : values.numbers[static_cast<std::size_t>(found - keys.texts.begin())];
    };
    for (const auto& texts : texts_of_columns(compiler, node, slot, keys.texts)) {
      std::vector<double>& list = value_of_code.emplace_back();
      for (const std::string& text : texts) list.push_back(value_of(text));
    }
    missing = value_of("");
  }
  add_per_column(compiler, node, values.type, [=, map = std::move(map)](std::size_t column, double value) {
    if (std::isnan(value)) return missing;
    if (!value_of_code.empty()) return value_of_code[column].at(static_cast<std::size_t>(value));
    const auto found = map.find(value);
    return found == map.end() ? otherwise : found->second;
  });
}

void compile_one_hot(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  const Slot slot = compiler.slot(from);
  if (slot.constant) compiler.fail(node, "of a constant is not supported");
  const Attribute* texts = node.find("cats_strings");
  const bool by_text = texts != nullptr && !texts->texts.empty();
  std::vector<double> numbers = numbers_of(node, "cats_int64s");
  const std::size_t cats = by_text ? texts->texts.size() : numbers.size();
  if (cats == 0) compiler.fail(node, "has no categories");
  if (by_text != (slot.type == Element::text))
    compiler.fail(node, "its categories are of another type than its input");
  // Per column: the number of a category in the table -> which one it is here.
  std::vector<std::vector<double>> cat_of_code;
  if (by_text) {
    for (const auto& known : texts_of_columns(compiler, node, slot, texts->texts)) {
      std::vector<double>& list = cat_of_code.emplace_back();
      for (const std::string& text : known) {
        list.push_back(static_cast<double>(std::ranges::find(texts->texts, text) - texts->texts.begin()));
      }
    }
  }
  const std::size_t columns = slot.columns;
  Slot output{.columns = columns * cats};
  for (const std::int32_t source : slot.sources) output.sources.insert(output.sources.end(), cats, source);
  compiler.add(
      node, {from}, std::move(output), [=](std::size_t rows, std::vector<Cells>& values, std::size_t to) {
        values[to].assign(rows * columns * cats, 0);
        for (std::size_t i = 0; i < rows * columns; ++i) {
          const double value = values[from][i];
          if (std::isnan(value)) continue;
          std::size_t cat = cats;
          if (by_text) {
            cat = static_cast<std::size_t>(cat_of_code[i % columns].at(static_cast<std::size_t>(value)));
          } else {
            // Numbers of any type are compared as integers.
            const auto found = std::ranges::find(numbers, std::trunc(value));
            cat = static_cast<std::size_t>(found - numbers.begin());
          }
          if (cat < cats) values[to][i * cats + cat] = 1;
        }
      });
}

// A list of maps, for the reader of a program; here it stays the table that it was.
void compile_zip_map(Compiler& compiler, const Node& node) {
  const std::size_t from = compiler.input(node, 0);
  Slot& slot = compiler.program().slots[from];
  if (const Attribute* labels = node.find("classlabels_strings");
      labels != nullptr && !labels->texts.empty()) {
    slot.labels = labels->texts;
  } else if (const Attribute* numbers = node.find("classlabels_int64s")) {
    slot.labels.clear();
    for (const std::int64_t label : numbers->integers) slot.labels.push_back(fmt::format("{}", label));
  }
  compiler.alias(node, from);
}

void compile_vectorizer(Compiler& compiler, const Node& node) {
  Node concat = node;
  concat.op = "Concat";
  concat.attributes.clear();
  find_shape_operator("Concat")(compiler, concat);
}

void compile_extractor(Compiler& compiler, const Node& node) {
  find_shape_operator("ArrayFeatureExtractor")(compiler, node);
}

}  // namespace

Operator find_encoder(const std::string& op) {
  static const std::map<std::string, Operator> kOperators = {
      {"Scaler", compile_scaler},
      {"Imputer", compile_imputer},
      {"Binarizer", compile_binarizer},
      {"Normalizer", compile_normalizer},
      {"LabelEncoder", compile_label_encoder},
      {"OneHotEncoder", compile_one_hot},
      {"ZipMap", compile_zip_map},
      {"FeatureVectorizer", compile_vectorizer},
      {"ArrayFeatureExtractor", compile_extractor},
  };
  const auto found = kOperators.find(op);
  return found == kOperators.end() ? nullptr : found->second;
}

}  // namespace hifi::onnx
