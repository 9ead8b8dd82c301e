#include "model/process_model.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>

#include "core/test_folder.h"
#include "masking/test_table.h"
#include "model/child_process.h"

namespace hifi {
namespace {

std::vector<Column> two_numbers() { return {number_column("a", {1}), number_column("b", {2})}; }

std::vector<double> predict(const Model& model, std::vector<double> rows) {
  const std::size_t count = rows.size() / model.info().width;
  std::vector<double> out(count * model.info().outputs);
  model.predict(rows, count, out);
  return out;
}

std::string failure(const std::string& command, std::vector<double> rows = {1, 2, 3, 4}) {
  return error_of([&] { predict(*open_process(command, two_numbers()), rows); }, ErrorCode::model);
}

// Limits every child to a second and tells how long the action took.
double seconds_with_limit(const std::string& limit, const std::function<void()>& action) {
  setenv("HIFI_PROCESS_TIMEOUT", limit.c_str(), 1);
  const auto start = std::chrono::steady_clock::now();
  action();
  unsetenv("HIFI_PROCESS_TIMEOUT");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST(ProcessModel, OneNumberPerRow) {
  const auto model = open_process("awk -F, 'NR > 1 {print $1 + 10 * $2}'", two_numbers());
  EXPECT_EQ(model->info().width, 2U);
  EXPECT_EQ(model->info().outputs, 1U);
  EXPECT_EQ(model->info().columns, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(model->info().tie_tolerance, 1e-9);
  EXPECT_EQ(model->info().task, Task::unknown);
  EXPECT_EQ(predict(*model, {1, 2, 3, 4, 0.5, -1}), (std::vector<double>{21, 43, -9.5}));
  EXPECT_TRUE(predict(*model, {}).empty());
}

TEST(ProcessModel, SeveralNumbersPerRowAreAClassifier) {
  const auto model = open_process("awk -F, 'NR > 1 {print $1 \" , \" $2 \",\\t0.5\\r\"}'", two_numbers());
  EXPECT_EQ(model->info().outputs, 3U);
  EXPECT_EQ(model->info().task, Task::classification);
  EXPECT_EQ(predict(*model, {1, 2, 3, 4}), (std::vector<double>{1, 2, 0.5, 3, 4, 0.5}));
}

TEST(ProcessModel, NumbersArriveToTheLastBit) {
  const TemporaryFolder folder;
  const auto model = open_process("awk -F, 'NR > 1 {print $1}'", {number_column("a", {1})});
  const std::vector<double> values = {0.1, 1.0 / 3, 1e-300, -1.7976931348623157e308, 5e-324, 123456789.125};
  EXPECT_EQ(predict(*model, values).size(), values.size());
  const auto echo = open_process("sed 1d", {number_column("a", {1})});
  EXPECT_EQ(predict(*echo, values), values);
}

// What the program is sent for a first row like this.
std::string sent(const std::vector<Column>& columns) {
  const TemporaryFolder folder;
  open_process("cat > '" + folder.path("seen") + "'; echo 1", columns);
  return folder.content("seen");
}

TEST(ProcessModel, WritesCsvAsEveryoneReadsIt) {
  EXPECT_EQ(sent(two_numbers()), "a,b\n1,2\n");
  EXPECT_EQ(sent({number_column("a", {kMissing}), number_column("b", {0.5})}), "a,b\n,0.5\n");
  EXPECT_EQ(sent({number_column("a", {kMissing})}), "a\n\"\"\n") << "no blank line";
  EXPECT_EQ(sent({boolean_column("t", {1}), boolean_column("f", {0}), boolean_column("m", {kMissing})}),
            "t,f,m\ntrue,false,\n");
  EXPECT_EQ(sent({boolean_column("mean", {0.25})}), "mean\n0.25\n");
  const std::vector<std::string> words = {"plain", "a,b", "say \"hi\"", "two\nlines", "\xc3\xa9t\xc3\xa9"};
  const auto word = [&](double code) { return text_column("w", words, {code}); };
  EXPECT_EQ(sent({word(0)}), "w\nplain\n");
  EXPECT_EQ(sent({word(1)}), "w\n\"a,b\"\n");
  EXPECT_EQ(sent({word(2)}), "w\n\"say \"\"hi\"\"\"\n");
  EXPECT_EQ(sent({word(3)}), "w\n\"two\nlines\"\n");
  EXPECT_EQ(sent({word(4)}), "w\n\xc3\xa9t\xc3\xa9\n");
  EXPECT_EQ(sent({word(kMissing), number_column("a", {1})}), "w,a\n,1\n");
  EXPECT_EQ(sent({number_column("x,y", {1}), number_column("", {2})}), "\"x,y\",\n1,2\n");
  EXPECT_EQ(sent({number_column("", {1}), number_column("b", {2})}), ",b\n1,2\n");
}

TEST(ProcessModel, WrongAnswers) {
  EXPECT_TRUE(contains(failure("echo 1"), "printed 1 lines for 2 rows"));
  EXPECT_TRUE(contains(failure("cut -d, -f1"), "not one number")) << "the header is no number";
  EXPECT_TRUE(contains(failure("sed 1d | cut -d, -f1; echo 7"), "more than the 1 lines for 1 rows"));
  EXPECT_TRUE(contains(failure("true"), "printed 0 lines for 1 rows"));
  EXPECT_TRUE(contains(failure("echo nan"), "line 1 is \"nan\""));
  EXPECT_TRUE(contains(failure("echo inf"), "line 1 is \"inf\""));
  EXPECT_TRUE(contains(failure("echo 1e999"), "line 1 is \"1e999\""));
  EXPECT_TRUE(contains(failure("echo hello"), "line 1 is \"hello\", not one number"));
  EXPECT_TRUE(contains(failure("echo 1 2"), "line 1 is \"1 2\", not one number"));
  EXPECT_TRUE(contains(failure("echo 1,"), "line 1 is \"1,\", not 2 numbers"));
  EXPECT_TRUE(contains(failure("echo 0x10"), "not one number"));
  EXPECT_TRUE(contains(failure("awk -F, 'NR == 2 {print 1} NR == 3 {print \"x\"}'"), "line 2 is \"x\""));
  EXPECT_TRUE(contains(failure("awk -F, 'NR == 2 {print 1} NR == 3 {print \"1,2\"}'"), "line 2 is \"1,2\""));
}

TEST(ProcessModel, Failures) {
  EXPECT_TRUE(contains(failure("no_such_program_anywhere"), "exit status 127"));
  EXPECT_TRUE(contains(failure("no_such_program_anywhere"), "not found"));
  EXPECT_EQ(failure("echo first >&2; echo 'it broke' >&2; exit 3"),
            "process:echo first >&2; echo 'it broke' >&2; exit 3: exit status 3: it broke");
  EXPECT_TRUE(contains(failure("kill -9 $$"), "killed by signal 9"));
  EXPECT_TRUE(contains(failure("sed 1d | cut -d, -f1; exit 1"), "exit status 1")) << "right but failing";
}

TEST(ProcessModel, AProgramThatReadsNothingMayAnswer) {
  std::vector<double> rows(400'000, 1.0);  // more than a pipe holds
  const auto model = open_process("yes 3 | head -n ${ROWS:-1}", two_numbers());
  setenv("ROWS", "200000", 1);
  const std::vector<double> answer = predict(*model, rows);
  unsetenv("ROWS");
  EXPECT_EQ(answer, std::vector<double>(200'000, 3.0));
}

TEST(ProcessModel, ManyRowsBothWaysAtOnce) {
  const auto model = open_process("sed -u 1d | cut -d, -f2", two_numbers());
  std::vector<double> rows;
  for (int r = 0; r < 30'000; ++r) rows.insert(rows.end(), {0.0, static_cast<double>(r)});
  const std::vector<double> answer = predict(*model, rows);
  for (std::size_t r = 0; r < answer.size(); ++r) ASSERT_EQ(answer[r], static_cast<double>(r));
}

TEST(ProcessModel, HangsAreEnded) {
  for (const char* command :
       {"sleep 30", "cat > /dev/null; sleep 30", "exec >&- 2>&-; sleep 30", "sleep 30 &"}) {
    const double took = seconds_with_limit("0.2", [&] {
      const std::string message = failure(command);
      EXPECT_TRUE(contains(message, "no answer after 0.2 s")) << message;
    });
    EXPECT_LT(took, 5) << command;
  }
}

TEST(ProcessModel, EndlessOutputIsEndedBeforeItFillsTheMemory) {
  const double took = seconds_with_limit("30", [&] {
    EXPECT_TRUE(contains(failure("yes 1"), "printed more than"));
    EXPECT_TRUE(contains(failure("tr '\\0' 1 < /dev/zero"), "printed more than"));
  });
  EXPECT_LT(took, 10);
}

TEST(ProcessModel, EndlessComplaintsAreCutToTheirEnd) {
  EXPECT_TRUE(contains(failure("yes filler | head -c 14000000 >&2; echo the end >&2; exit 1"), ": the end"));
}

TEST(ProcessModel, TheMessageIsOneShortLine) {
  const std::string message = failure("printf 'bad\\033[2J\\tthing %0500d\\n' 7 >&2; exit 1");
  EXPECT_EQ(message.find('\033'), std::string::npos);
  EXPECT_LT(message.size(), 400U);
  EXPECT_TRUE(contains(failure("printf 'a\\033b\\n'"), "not one number"));
  EXPECT_EQ(failure("printf 'a\\033b\\n'").find('\033'), std::string::npos);
}

TEST(ChildProcess, ReturnsWhatWasPrinted) {
  EXPECT_EQ(run_child("tr a-z A-Z", "hello", 10, 100), "HELLO");
  EXPECT_EQ(run_child("true", "", 10, 100), "");
  EXPECT_EQ(run_child("printf 'a\\0b'", "", 10, 100), std::string("a\0b", 3));
}

}  // namespace
}  // namespace hifi
