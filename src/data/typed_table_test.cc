// Parquet and Feather files, written by pyarrow, and damaged files of every format.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "data/table.h"
#include "data/table_test_files.h"
#include "hifi/error.h"

namespace hifi {
namespace {

class TypedTableTest : public TableFiles {
 protected:
  // `table` is a Python expression; all files hold the same.
  std::vector<std::string> write_all(const std::string& table) {
    python("t = " + table + R"(
pq.write_table(t, "t.parquet")
pq.write_table(t, "small.parquet", row_group_size=2, compression="zstd", use_dictionary=False)
feather.write_feather(t, "lz4.feather", compression="lz4", chunksize=2)
feather.write_feather(t, "zstd.feather", compression="zstd")
feather.write_feather(t, "plain.arrow", compression="uncompressed")
)");
    return {path("t.parquet"), path("small.parquet"), path("lz4.feather"), path("zstd.feather"),
            path("plain.arrow")};
  }
};

TEST_F(TypedTableTest, HashDoesNotDependOnTheFormat) {
  const std::string csv = write("t.csv",
                                "i,x,b,t,none,big\n1,0.1,true,Rome,,12345678901234567890\n"
                                "-2,,false,Oslo,,1\n3,inf,,Rome,,2\n,-0.0,true,,,3\n");
  const std::string hash = table_hash(read_table(csv));
  const auto files = write_all(R"(pa.table({
  "i": pa.array([1, -2, 3, None], pa.int64()), "x": [0.1, None, float("inf"), 0.0],
  "b": [True, False, None, True], "t": ["Rome", "Oslo", "Rome", None], "none": pa.nulls(4),
  "big": pa.array([12345678901234567890, 1, 2, 3], pa.uint64())}))");
  for (const std::string& file : files) {
    const Table table = read_table(file);
    EXPECT_EQ(table.rows, 4U) << file;
    EXPECT_EQ(table.row_name(2), "data row 3");
    EXPECT_EQ(table_hash(table), hash) << file;
    EXPECT_EQ(table.require("none").type, ColumnType::number);
    EXPECT_NE(
        error_of([&] { table.require("big"); }).find("holds 12345678901234567890 in data row 1: an integer"),
        std::string::npos);
  }
}

TEST_F(TypedTableTest, AColumnWithoutValuesIsANumberColumn) {
  const std::string hash = table_hash(read_table(write("t.csv", "x,b,s,c\n1,,,\n2,,,\n")));
  const auto files = write_all(R"(pa.table({
  "x": [1, 2], "b": pa.array([None, None], pa.bool_()), "s": pa.array([None, ""]),
  "c": pa.array([None, None], pa.string()).dictionary_encode()}))");
  for (const std::string& file : files) EXPECT_EQ(table_hash(read_table(file)), hash) << file;
}

// Arrow hands such texts and indices on as they are, unless it is asked to look.
TEST_F(TypedTableTest, ContentsThatBreakTheirTypeAreRefused) {
  const auto files = write_all(R"(pa.table({"s": pa.Array.from_buffers(
  pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"\xe9x")])}))");
  for (const std::string& file : files) {
    const std::string message = error_of([&] { read_table(file); });
    EXPECT_NE(message.find("cannot be read as"), std::string::npos) << message;
  }
  python(R"(
t = pa.table({"c": pa.DictionaryArray.from_arrays(pa.array([0, 1000000], pa.int32()), ["a"], safe=False)})
feather.write_feather(t, "index.feather"))");
  EXPECT_TRUE(
      error_of([&] { read_table(path("index.feather")); }).starts_with("index.feather: cannot be read as"));
}

TEST_F(TypedTableTest, EveryNumberTypeIsRead) {
  const auto files = write_all(R"(pa.table({
  **{name: pa.array([1, None, 100], name) for name in
     ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]},
  "float16": pa.array(__import__("numpy").array([1, float("nan"), 100], "float16")),
  "decimal128": pa.array([1, None, 100], pa.decimal128(20, 3)),
  "decimal256": pa.array([1, None, 100], pa.decimal256(50, 0)),
  "category": pa.array([1, None, 100]).dictionary_encode()}))");
  for (const std::string& file : files) {
    const Table table = read_table(file);
    ASSERT_EQ(table.columns.size(), 14U);
    for (const Column& column : table.columns) {
      const Column& number = table.require_number(column.name);
      EXPECT_EQ(number.type, ColumnType::number) << column.name;
      EXPECT_EQ(number.values[0], 1) << column.name;
      EXPECT_TRUE(std::isnan(number.values[1])) << column.name;
      EXPECT_EQ(number.values[2], 100) << column.name;
    }
  }
}

TEST_F(TypedTableTest, EveryTextTypeIsReadInOrderOfAppearance) {
  const auto files = write_all(R"((lambda v: pa.table({
  "utf8": pa.array(v), "large": pa.array(v, pa.large_utf8()), "view": pa.array(v, pa.string_view()),
  "dictionary": pa.DictionaryArray.from_arrays(pa.array([2, 0, None, 2, 3]), pa.array(["a", "unused", "b", ""])),
  }))(["b", "a", None, "b", ""]))");
  for (const std::string& file : files) {
    const Table table = read_table(file);
    ASSERT_EQ(table.columns.size(), 4U);
    for (const Column& column : table.columns) {
      EXPECT_EQ(column.type, ColumnType::text) << file << column.name;
      EXPECT_EQ(column.dictionary, (std::vector<std::string>{"b", "a"})) << file << column.name;
      EXPECT_EQ(column.values[0], 0);
      EXPECT_EQ(column.values[1], 1);
      EXPECT_TRUE(std::isnan(column.values[2]));
      EXPECT_EQ(column.values[3], 0);
      EXPECT_TRUE(std::isnan(column.values[4]));
    }
  }
}

TEST_F(TypedTableTest, OtherTypesAreAProblemOnlyWhenAskedFor) {
  const auto files = write_all(R"(pa.table({
  "x": [1.5], "when": pa.array([0], pa.timestamp("us")), "day": pa.array([0], pa.date32()), "time": pa.array([0], pa.time64("us")),
  "list": [[1]], "struct": [{"a": 1}], "bytes": [b"x"], "long": pa.array([1], pa.duration("us"))}))");
  for (const std::string& file : files) {
    const Table table = read_table(file);
    EXPECT_EQ(table.require_number("x").values[0], 1.5);
    EXPECT_TRUE(error_of([&] {
                  table.require("when");
                }).ends_with(": column \"when\" has type timestamp[us], which is not supported"));
    for (const std::string name : {"day", "time", "list", "struct", "bytes", "long"}) {
      EXPECT_NE(error_of([&] { table.require(name); }).find("which is not supported"), std::string::npos)
          << name;
      EXPECT_EQ(table.find(name)->values.size(), 1U);
    }
  }
}

TEST_F(TypedTableTest, IntegersBeyondADoubleAreRefused) {
  const auto files = write_all(R"(pa.table({
  "fits": pa.array([2**53, -2**53, None]), "low": pa.array([1, None, -2**53 - 1]), "u": pa.array([1, 2, 2**63 + 1], pa.uint64()),
  "category": pa.array([1, 2, 2**53 + 1]).dictionary_encode(), "decimal": pa.array([1, 2, 2**53 + 1], pa.decimal128(20, 0))}))");
  const std::string reason = ": an integer beyond 2^53 would be rounded";
  for (const std::string& file : files) {
    const Table table = read_table(file);
    EXPECT_EQ(table.require_number("fits").values[1], -0x1p53);
    const auto problem = [&](const std::string& name) { return table.find(name)->problem; };
    EXPECT_EQ(problem("low"), "holds -9007199254740993 in data row 3" + reason);
    EXPECT_EQ(problem("u"), "holds 9223372036854775809 in data row 3" + reason);
    EXPECT_EQ(problem("decimal"), "holds 9007199254740993 in data row 3" + reason);
    // Parquet files give the rows of an integer dictionary, Feather files the dictionary.
    const std::string place = file.ends_with(".parquet") ? "data row 3" : "its dictionary";
    EXPECT_EQ(problem("category"), "holds 9007199254740993 in " + place + reason);
  }
}

TEST_F(TypedTableTest, TextColumnsMustBeText) {
  const auto files = write_all(R"(pa.table({"n": [110, 11], "s": ["0110", None], "none": pa.nulls(2)}))");
  for (const std::string& file : files) {
    const Table table = read_table(file, {.text_columns = {"n", "s", "none"}});
    EXPECT_TRUE(error_of([&] { table.require("n"); }).ends_with(": column \"n\" is int64; it must be text"));
    EXPECT_EQ(table.require("s").dictionary[0], "0110");
    EXPECT_EQ(table.require("none").type, ColumnType::text);
  }
}

TEST_F(TypedTableTest, EdgesAndRefusals) {
  for (const std::string& file :
       write_all(R"(pa.table({"a": pa.array([], pa.int64()), "t": pa.array([], pa.string())}))")) {
    const Table table = read_table(file);
    EXPECT_EQ(table.rows, 0U);
    EXPECT_EQ(table.columns.size(), 2U);
  }
  python(R"(
t = pa.table([[1], [2]], names=["a", "a"])
pq.write_table(t, "twice.parquet")
pq.write_table(pa.table({"a": list(range(1000))}), "good.parquet")
feather.write_feather(pa.table({"a": list(range(1000))}), "good.feather")
feather.write_feather(pa.table({"a": [1]}), "one.feather", version=1)
with ipc.new_stream("stream.arrow", t.schema) as stream: stream.write_table(t)
import gzip
open("t.csv.gz", "wb").write(gzip.compress(b"a,b\n1,2\n") + gzip.compress(b"3,4\n"))
open("cut.csv.gz", "wb").write(gzip.compress(b"a,b\n" + b"1,2\n" * 1000)[:-20])
)");
  const auto error = [&](const std::string& name) { return error_of([&] { read_table(path(name)); }); };
  EXPECT_EQ(error("twice.parquet"), "twice.parquet: two columns have the name \"a\"");
  EXPECT_EQ(error("one.feather"), "one.feather: Feather version 1 is not supported");
  EXPECT_EQ(error("stream.arrow"), "stream.arrow: is an Arrow stream, which is not supported");
  const Table zipped = read_table(path("t.csv.gz"));
  EXPECT_EQ(zipped.require("b").values, (std::vector<double>{2, 4}));
  EXPECT_TRUE(error("cut.csv.gz").starts_with("cut.csv.gz: cannot be decompressed: ")) << error("cut.csv.gz");
  for (const std::string name : {"good.parquet", "good.feather"}) {
    const std::string whole = content(name);
    for (const std::size_t size : {whole.size() - 1, whole.size() / 2, std::size_t{13}, std::size_t{7}}) {
      write("cut", whole.substr(0, size));
      EXPECT_TRUE(error("cut").starts_with("cut: cannot be read as ")) << name << size << error("cut");
    }
    write("renamed.csv", whole);
    EXPECT_EQ(read_table(path("renamed.csv")).rows, 1000U) << "content goes before suffix";
  }
}

// Only success or Error(input) on one line, whatever the bytes.
TEST_F(TypedTableTest, DamagedFilesNeverCrash) {
  auto names = write_all(R"(pa.table({
  "i": list(range(40)), "x": [i / 3 for i in range(40)], "b": [i % 3 == 0 for i in range(40)],
  "t": [str(i % 7) for i in range(40)], "c": pa.array([str(i % 5) for i in range(40)]).dictionary_encode(),
  "v": pa.array(["a long enough text %d" % i for i in range(40)], pa.string_view()),
  "l": [[i] for i in range(40)], "d": pa.array(range(40), pa.decimal128(20, 2))}))");
  std::string csv = "i,x,b,t\n";
  for (int i = 0; i < 40; ++i)
    csv += std::to_string(i) + ",1." + std::to_string(i) + ",true,\"a \"\"b\"\"\n" + "c\"\n";
  names.push_back(write("t.csv", csv));
  write("t2.csv", csv);
  python("import gzip; open('t.csv.gz', 'wb').write(gzip.compress(open('t2.csv', 'rb').read()))");
  names.push_back(path("t.csv.gz"));

  std::mt19937 random(7);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  int refused = 0;
  for (const std::string& name : names) {
    const std::string whole = content(std::filesystem::path(name).filename());
    for (int repeat = 0; repeat < 300; ++repeat) {
      std::string damaged = whole;
      if (repeat % 4 == 0) damaged.resize(below(whole.size()));
      for (std::size_t flips = repeat % 4; flips > 0 && !damaged.empty(); --flips) {
        damaged[below(damaged.size())] ^= static_cast<char>(1U << below(8));
      }
      const std::string file = write("damaged", damaged);
      refused += error_of([&] { table_hash(read_table(file)); }) != "no error";
    }
  }
  EXPECT_GT(refused, 300);
}

// libparquet exports OpenSSL's symbols: nothing but the plug-in may link it, and that stays local.
class TablesPlugin : public TableFiles {};

TEST_F(TablesPlugin, AloneLinksArrow) {
  read_table(write("t.csv", "a\n1\n"));
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "hifi_read_table"), nullptr);
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const auto links_arrow = [&](const std::string& name) {
    const std::string command = "ldd '" + (folder / name).string() + "' | grep -Eq 'libarrow|libparquet'";
    return std::system(command.c_str()) == 0;
  };
  for (const std::string name : {"hifi", "libhifi_core.so", "hifi_tests"}) {
    ASSERT_TRUE(std::filesystem::exists(folder / name));
    EXPECT_FALSE(links_arrow(name)) << name;
  }
  EXPECT_TRUE(links_arrow("libhifi_tables.so"));
}

}  // namespace
}  // namespace hifi
