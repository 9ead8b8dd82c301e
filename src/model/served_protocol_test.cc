#include "model/served_protocol.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/test_folder.h"
#include "model/served_url.h"

namespace hifi {
namespace {

using nlohmann::json;

std::string bad_url(const std::string& url) {
  return error_of([&] { served_url(url); }, ErrorCode::input);
}

TEST(ServedUrl, Forms) {
  for (const char* url : {"http://h/v2/models/m", "https://h:8080/v2/models/m", "http://[::1]:80/v2/models/m",
                          "http://h/v2/models/m/versions/3", "HTTP://h/seldon/x/v2/models/m.a-b_c"}) {
    EXPECT_TRUE(looks_served(url));
    EXPECT_EQ(served_url(url), url);
    EXPECT_EQ(served_url(std::string(url) + "/"), url);
  }
  for (const char* file : {"http", "model.json", "https", "httpx://h/v2/models/m", "process:curl http://h"}) {
    EXPECT_FALSE(looks_served(file));
  }
  for (const char* url :
       {"http://", "http:///v2/models/m", "http://h", "http://h/", "http://h/v2/models",
        "http://h/v2/models/", "http://h/v2/models/m/infer", "http://h/v2/models/m/versions",
        "http://h/v2/models/m/versions/", "http://h/v2/models//versions/1", "http://h/v2/models/a b",
        "http://h/v1/models/m", "http://h/v2/models/m\n"}) {
    EXPECT_TRUE(contains(bad_url(url), "is not the address of a served model")) << url;
  }
}

TEST(ServedUrl, SecretsAreRefusedAndNotRepeated) {
  for (const char* url :
       {"http://me:secret@h/v2/models/m", "https://secret@h/v2/models/m", "http://h/v2/models/m?key=secret",
        "http://h/v2/models/m#secret", "http://a@b:secret@h/v2/models/m", "http://h?secret"}) {
    EXPECT_FALSE(contains(bad_url(url), "secret")) << bad_url(url);
    EXPECT_TRUE(contains(bad_url(url), "h"));
  }
}

RequestForm form(const std::string& type, std::size_t width) {
  return {.inputs = {tensor_info("x", type, {-1, static_cast<long long>(width)})}, .width = width};
}

TEST(ServedRequest, OneTensorOfRows) {
  const std::vector<double> rows = {1, 2.5, -3, 0.1};
  EXPECT_EQ(write_request(form("FP64", 2), rows, 2),
            R"({"inputs":[{"name":"x","shape":[2,2],"datatype":"FP64","data":[1,2.5,-3,0.1]}]})");
  RequestForm named = form("FP64", 2);
  named.output = "p\"q";
  EXPECT_EQ(write_request(named, rows, 2),
            R"({"inputs":[{"name":"x","shape":[2,2],"datatype":"FP64","data":[1,2.5,-3,0.1]}],)"
            R"("outputs":[{"name":"p\"q"}]})");
  const RequestForm flat{.inputs = {tensor_info("x", "FP64", {-1})}, .width = 1};
  EXPECT_EQ(write_request(flat, std::vector<double>{4, 5}, 2),
            R"({"inputs":[{"name":"x","shape":[2],"datatype":"FP64","data":[4,5]}]})");
}

TEST(ServedRequest, OneTensorPerColumn) {
  const RequestForm columns{.inputs = {tensor_info("age", "INT64", {-1}), tensor_info("up", "BOOL", {-1, 1}),
                                       tensor_info("w", "FP32", {-1, 1})},
                            .width = 3};
  EXPECT_EQ(write_request(columns, std::vector<double>{7, 1, 0.1, -8, 0, 0.25}, 2),
            R"({"inputs":[{"name":"age","shape":[2],"datatype":"INT64","data":[7,-8]},)"
            R"({"name":"up","shape":[2,1],"datatype":"BOOL","data":[true,false]},)"
            R"({"name":"w","shape":[2,1],"datatype":"FP32","data":[0.1,0.25]}]})");
}

TEST(ServedRequest, NumbersArriveToTheLastBit) {
  const std::vector<double> values = {0.1,  1.0 / 3, 1e-300, -1.7976931348623157e308, 5e-324, 123456789.125,
                                      -0.0, 1e22,    2e-7};
  const json sent = json::parse(write_request(form("FP64", 1), values, values.size()));
  const auto back = sent["inputs"][0]["data"].get<std::vector<double>>();
  ASSERT_EQ(back.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(back[i], values[i]);
    EXPECT_EQ(std::signbit(back[i]), std::signbit(values[i]));
  }
  const std::vector<double> singles = {0.1, 16777217, 3.4e38, 1e-45};
  const json floats = json::parse(write_request(form("FP32", 1), singles, singles.size()));
  for (std::size_t i = 0; i < singles.size(); ++i) {
    EXPECT_EQ(floats["inputs"][0]["data"][i].get<float>(), static_cast<float>(singles[i]));
  }
}

TEST(ServedRequest, RepeatedValuesAreNotMixedUp) {
  std::vector<double> rows;
  for (int i = 0; i < 200; ++i) rows.push_back(i * i % 7 == 3 ? 0.0 : i * i % 5);
  const json sent = json::parse(write_request(form("FP64", 2), rows, 100));
  EXPECT_EQ(sent["inputs"][0]["data"].get<std::vector<double>>(), rows);
}

TEST(ServedRequest, MissingIsNull) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const std::string sent = write_request(form("FP32", 2), std::vector<double>{missing, 1}, 1);
  EXPECT_TRUE(contains(sent, "[null,1]")) << sent;
}

TEST(ServedRequest, ValuesThatDoNotFit) {
  const double missing = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<std::string, double>> cases = {
      {"INT64", 0.5}, {"INT64", 1e17},    {"INT64", missing}, {"INT32", 2147483648.0},
      {"UINT8", -1},  {"UINT8", 256},     {"BOOL", 2},        {"BOOL", missing},
      {"FP32", 1e39}, {"FP32", infinite}, {"FP64", infinite}, {"FP64", -infinite},
      {"INT8", -129}, {"BYTES", 1}};
  for (const auto& [type, value] : cases) {
    RequestForm one = form(type, 1);
    one.columns = {"age"};
    const std::string message =
        error_of([&] { write_request(one, std::span(&value, 1), 1); }, ErrorCode::input);
    EXPECT_TRUE(contains(message, "column \"age\"")) << message;
    EXPECT_TRUE(contains(message, type)) << message;
  }
}

TEST(ServedAnswer, AnyOrderAndNestedLists) {
  const ServedAnswer answer = parse_answer(
      R"({"outputs":[{"data":[[1,2.5],[true,-4e2]],"parameters":{"data":[9],"name":"no","shape":[7]},)"
      R"("shape":[2,2],"datatype":"FP64","name":"p"},{"name":"label","datatype":"BYTES","shape":[2],)"
      R"("data":["a","b"]}],"model_name":"m","model_version":"7","id":"x","parameters":{"outputs":[1]}})",
      "here");
  ASSERT_EQ(answer.outputs.size(), 2U);
  EXPECT_EQ(answer.outputs[0].name, "p");
  EXPECT_EQ(answer.outputs[0].datatype, "FP64");
  EXPECT_EQ(answer.outputs[0].shape, (std::vector<double>{2, 2}));
  EXPECT_EQ(answer.outputs[0].data, (std::vector<double>{1, 2.5, 1, -400}));
  EXPECT_FALSE(answer.outputs[0].text);
  EXPECT_TRUE(answer.outputs[1].text);
  EXPECT_EQ(answer.model_version, "7");
}

TEST(ServedAnswer, NullIsNotANumber) {
  const ServedAnswer answer =
      parse_answer(R"({"outputs":[{"name":"p","shape":[2],"datatype":"FP64","data":[1,null]}]})", "here");
  EXPECT_TRUE(std::isnan(answer.outputs[0].data.at(1)));
}

TEST(ServedAnswer, BrokenAnswers) {
  const auto failure = [](const std::string& text) {
    return error_of([&] { parse_answer(text, "here"); }, ErrorCode::model);
  };
  EXPECT_EQ(failure("<html><body>hello"), "here: the answer is HTML, not JSON");
  EXPECT_EQ(failure(""), "here: the answer is empty");
  EXPECT_EQ(failure("{}"), "here: the answer is JSON without a list of outputs");
  EXPECT_EQ(failure("[1,2]"), "here: the answer is JSON without a list of outputs");
  EXPECT_TRUE(contains(failure(R"({"outputs":[{"data":[1,NaN]}]})"), "broken JSON at byte 24"));
  EXPECT_TRUE(contains(failure(R"({"outputs":[{"data":[1,2)"), "broken JSON"));
  EXPECT_TRUE(contains(failure(R"({"outputs":[{"data":[1e999]}]})"), "broken JSON"));
  EXPECT_TRUE(contains(failure(std::string(100'000, '[')), "broken JSON"));
}

TEST(ServedMetadata, WhatAModelSaysOfItself) {
  const ServedMetadata metadata = parse_metadata(
      R"({"name":"m","versions":["1",2],"platform":"onnx","inputs":[{"name":"x","datatype":"FP32",)"
      R"("shape":[-1,4]}],"outputs":null,"more":1})",
      "here");
  ASSERT_EQ(metadata.inputs.size(), 1U);
  EXPECT_EQ(metadata.inputs[0].type, TensorType::fp32);
  EXPECT_EQ(metadata.inputs[0].shape, (std::vector<long long>{-1, 4}));
  EXPECT_EQ(metadata.versions, (std::vector<std::string>{"1", "2"}));
  EXPECT_TRUE(metadata.outputs.empty());
  for (const char* text : {"", "<html>", "{}", "[]", "3", R"({"name":1})", R"({"name":"m","inputs":3})",
                           R"({"name":"m","inputs":[{"name":"x"}]})",
                           R"({"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":["a"]}]})"}) {
    EXPECT_TRUE(contains(error_of([&] { parse_metadata(text, "here"); }, ErrorCode::input), "here: "))
        << text;
  }
}

TEST(ServedComplaint, OneShortLine) {
  EXPECT_EQ(complaint(R"({"error":"no\nway"})"), "no way");
  EXPECT_EQ(complaint(R"({"detail":"x"})"), "x");
  EXPECT_EQ(complaint("<!DOCTYPE html>"), "HTML");
  EXPECT_EQ(complaint(" \n"), "nothing");
  EXPECT_LT(complaint(std::string(100'000, 'x')).size(), 300U);
}

}  // namespace
}  // namespace hifi
