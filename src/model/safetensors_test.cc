#include "model/safetensors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "core/test_folder.h"

namespace hifi {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

template <class T>
std::string bytes_of(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  return bytes;
}

std::string refusal(const std::string& content) {
  TemporaryFolder folder;
  const std::string path = folder.write("x.safetensors", content);
  return error_of([&] { Safetensors file(path); });
}

TEST(Safetensors, ReadsFloatsOfEveryWidth) {
  TemporaryFolder folder;
  const std::string path = folder.write(
      "x.safetensors",
      file_of(R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
              R"("h":{"dtype":"F16","shape":[5],"data_offsets":[8,18]},)"
              R"("b":{"dtype":"BF16","shape":[2],"data_offsets":[18,22]},)"
              R"("i":{"dtype":"I64","shape":[],"data_offsets":[22,30]}})",
              bytes_of<float>({1.5F, -2.25F}) +
                  bytes_of<std::uint16_t>({0x3C00, 0xC100, 0x0001, 0x7C00, 0x8000}) +
                  bytes_of<std::uint16_t>({0x3FC0, 0xC000}) + bytes_of<std::int64_t>({7})));
  const Safetensors file(path);
  const Tensor& a = file.tensors().at("a");
  EXPECT_EQ(a.shape, (std::vector<std::size_t>{2, 1}));
  const Floats floats(a, "a");
  EXPECT_EQ(floats[0], 1.5F);
  EXPECT_EQ(floats[1], -2.25F);
  const Floats half(file.tensors().at("h"), "h");
  EXPECT_EQ(half[0], 1.0F);
  EXPECT_EQ(half[1], -2.5F);
  EXPECT_EQ(half[2], std::ldexp(1.0F, -24));
  EXPECT_TRUE(std::isinf(half[3]));
  EXPECT_TRUE(std::signbit(half[4]));
  const Floats brain(file.tensors().at("b"), "b");
  EXPECT_EQ(brain[0], 1.5F);
  EXPECT_EQ(brain[1], -2.0F);
  EXPECT_TRUE(contains(error_of([&] { Floats(file.tensors().at("i"), "i"); }), "dtype I64"));
}

TEST(Safetensors, RefusesHeadersThatLie) {
  const std::string data = bytes_of<float>({1, 2});
  const auto tensor = [](const std::string& rest) { return "{\"a\":{" + rest + "}}"; };
  EXPECT_TRUE(contains(refusal("abc"), "too short"));
  EXPECT_TRUE(contains(refusal(std::string(8, '\xff') + "{}"), "the header claims"));
  EXPECT_TRUE(contains(refusal(file_of("{\"a\":", "").substr(0, 10)), "the header claims"));
  EXPECT_TRUE(contains(refusal(file_of("nonsense", "")), "no JSON object"));
  EXPECT_TRUE(contains(refusal(file_of(tensor(R"("dtype":"F32","shape":[2])"), data)), "lacks"));
  EXPECT_TRUE(contains(refusal(file_of(tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,12])"), data)),
                       "outside"));
  EXPECT_TRUE(contains(refusal(file_of(tensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])"), data)),
                       "ask for 12"));
  EXPECT_TRUE(contains(refusal(file_of(tensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])"), data)),
                       "outside"));
  EXPECT_TRUE(contains(refusal(file_of(tensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])"), data)),
                       "no count"));
  EXPECT_TRUE(contains(
      refusal(file_of(tensor(R"("dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8])"), data)),
      "too large"));
  EXPECT_TRUE(contains(refusal(file_of(tensor(R"("dtype":"F9","shape":[2],"data_offsets":[0,8])"), data)),
                       "unknown dtype"));
  EXPECT_TRUE(contains(refusal(file_of(tensor(R"("dtype":"F32","shape":[1],"data_offsets":[0,4])"), data)),
                       "after the header"));
  EXPECT_TRUE(contains(
      refusal(file_of(tensor(R"("dtype":"F32","shape":{"x":2},"data_offsets":[0,8])"), data)), "no list"));
  const auto two = [&](const std::string& first, const std::string& second, const char* name = "b") {
    const std::string one = R"(":{"dtype":"F32","shape":[1],"data_offsets":)";
    return refusal(file_of("{\"a" + one + first + "},\"" + name + one + second + "}}", data));
  };
  EXPECT_EQ(two("[4,8]", "[0,4]"), "no error");
  EXPECT_TRUE(contains(two("[0,4]", "[0,4]"), "tensor \"b\" overlaps the one before it"));
  EXPECT_TRUE(contains(two("[4,8]", "[4,8]"), "tensor \"a\" leaves a gap before it"));
  EXPECT_TRUE(contains(two("[0,4]", "[4,8]", "a"), "\"a\" is there twice"));
}

TEST(WeightFiles, TakesShards) {
  TemporaryFolder folder;
  const auto shard = [&](const std::string& name, const std::string& tensor, float value) {
    folder.write(name, file_of("{\"" + tensor + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                               bytes_of<float>({value})));
  };
  const auto opened = [&] { return error_of([&] { WeightFiles files(folder.path()); }); };
  EXPECT_TRUE(contains(opened(), "neither model.safetensors nor its index"));
  shard("1.safetensors", "a", 1);
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  EXPECT_TRUE(contains(opened(), "2.safetensors: cannot be opened"));
  shard("2.safetensors", "c", 2);
  EXPECT_TRUE(contains(opened(), "2.safetensors has no tensor \"b\""));
  shard("2.safetensors", "b", 2);
  const WeightFiles files(folder.path());
  EXPECT_EQ(Floats(*files.find("b"), "b")[0], 2.0F);
  EXPECT_EQ(files.find("c"), nullptr);
  EXPECT_EQ(files.bytes(), 8U);
  const std::string hash = files.hash();
  shard("2.safetensors", "b", 3);
  EXPECT_NE(WeightFiles(folder.path()).hash(), hash);
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"2.safetensors","b":"1.safetensors"}})");
  EXPECT_TRUE(contains(opened(), "2.safetensors has no tensor \"a\""));
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"1.safetensors","b":"2.safetensors"}})");
  shard("2.safetensors", "a", 3);
  EXPECT_TRUE(contains(opened(), "tensor \"a\" is in"));
  folder.write("model.safetensors.index.json", R"({"weight_map":{"a":"../1.safetensors"}})");
  EXPECT_TRUE(contains(opened(), "no file name"));
}

}  // namespace
}  // namespace hifi
