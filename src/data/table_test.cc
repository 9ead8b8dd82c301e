#include "data/table.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <thread>

#include "data/table_test_files.h"
#include "hifi/error.h"

namespace hifi {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

class CsvTest : public TableFiles {
 protected:
  Table csv(const std::string& content, const ReadOptions& options = {}) {
    return read_table(write("data.csv", content), options);
  }
  std::string csv_error(const std::string& content) {
    return error_of([&] { csv(content); });
  }
};

TEST_F(CsvTest, ReadsNumbersBooleansAndTexts) {
  const Table table = csv("x,flag,city\n1,true,Rome\n-2.5e3,False,Oslo\n.5,TRUE,Rome\n");
  ASSERT_EQ(table.rows, 3U);
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[0].type, ColumnType::number);
  EXPECT_EQ(table.columns[0].values, (std::vector<double>{1, -2500, 0.5}));
  EXPECT_EQ(table.columns[1].type, ColumnType::boolean);
  EXPECT_EQ(table.columns[1].values, (std::vector<double>{1, 0, 1}));
  EXPECT_EQ(table.columns[2].type, ColumnType::text);
  EXPECT_EQ(table.columns[2].values, (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(table.columns[2].dictionary, (std::vector<std::string>{"Rome", "Oslo"}));
  EXPECT_EQ(table.row_name(2), "data row 3 (line 4)");
}

TEST_F(CsvTest, MissingValuesAreNaN) {
  const Table table = csv("x,y,b,t\n,NA,true,\"\"\n\"\",nan,NA,a\n3,N/A,,NA\n4, 7 ,false,b\n");
  for (const int row : {0, 1}) EXPECT_TRUE(std::isnan(table.require_number("x").values[row]));
  for (const int row : {0, 1, 2}) EXPECT_TRUE(std::isnan(table.require_number("y").values[row]));
  EXPECT_EQ(table.find("y")->values[3], 7);
  EXPECT_EQ(table.find("b")->type, ColumnType::boolean);
  EXPECT_TRUE(std::isnan(table.find("b")->values[1]));
  EXPECT_TRUE(std::isnan(table.find("t")->values[0]));
  EXPECT_EQ(table.find("t")->dictionary, (std::vector<std::string>{"a", "NA", "b"}));
}

TEST_F(CsvTest, AColumnWithoutValuesIsANumberColumn) {
  const Table table = csv("x,y\n1,\n2,NA\n");
  EXPECT_EQ(table.require("y").type, ColumnType::number);
  EXPECT_TRUE(std::isnan(table.find("y")->values[1]));
}

TEST_F(CsvTest, InfinitiesAndSmallNumbersAreNumbers) {
  const Table table = csv("x\ninf\n-Inf\n+1\n5e-324\n-0\nInfinity\n");
  EXPECT_EQ(table.require_number("x").values,
            (std::vector<double>{kInfinity, -kInfinity, 1, 5e-324, 0, kInfinity}));
}

TEST_F(CsvTest, WhatIsNoPlainNumberIsText) {
  for (const std::string text : {"0x1F", "1_000", "nan(1)", "1e", "--1", "+", ".", "infinit", "1 2",
                                 "2020-01-02", "2020-01-02 10:00:00", "1.5f", "true"}) {
    EXPECT_EQ(csv("x\n1\n" + text + "\n").columns[0].type, ColumnType::text) << text;
  }
}

TEST_F(CsvTest, TextColumnsKeepTheirTexts) {
  const Table table = csv("c,n\n0110,0110\nNA,1\n,2\n", {.text_columns = {"c", "absent"}});
  EXPECT_EQ(table.require("c").type, ColumnType::text);
  EXPECT_EQ(table.find("c")->dictionary, (std::vector<std::string>{"0110", "NA"}));
  EXPECT_TRUE(std::isnan(table.find("c")->values[2]));
  EXPECT_EQ(table.find("n")->values[0], 110);
  EXPECT_EQ(error_of([&] { table.require_number("c"); }), "data.csv: column \"c\" holds text, not numbers");
}

TEST_F(CsvTest, AMixedColumnNamesItsFirstText) {
  const Table table = csv("age\n1\n2\nabc\nx\n");
  EXPECT_EQ(table.require("age").type, ColumnType::text);
  EXPECT_EQ(error_of([&] { table.require_number("age"); }),
            "data.csv: column \"age\": data row 3 (line 4) is \"abc\", not a number");
}

TEST_F(CsvTest, AnUnknownColumnListsTheOthers) {
  const Table table = csv("a, b\n1,2\n");
  try {
    table.require("b");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.hint()), "the columns are \"a\", \" b\"");
  }
}

TEST_F(CsvTest, IntegersBeyondADoubleAreRefusedWhenAskedFor) {
  for (const std::string value : {"9007199254740993", "-9007199254740993", "12345678901234567890",
                                  "123456789012345678901234567890", "+9007199254740993"}) {
    const Table table = csv("id,x\n1,1\n2,2\n" + value + ",3\n");
    EXPECT_EQ(error_of([&] { table.require("id"); }), "data.csv: column \"id\" holds " + value +
                                                          " in data row 3 (line 4): an integer beyond 2^53 "
                                                          "would be rounded");
    EXPECT_EQ(table.require("x").values[2], 3);
  }
  const Table exact = csv("id\n9007199254740992\n-9007199254740992\n1e300\n0000000000000000001\n1e+20\n");
  EXPECT_EQ(exact.require_number("id").values, (std::vector<double>{0x1p53, -0x1p53, 1e300, 1, 1e20}));
  EXPECT_EQ(error_of([&] { csv("x\n1e400\n").require("x"); }),
            "data.csv: column \"x\" holds 1e400 in data row 1 (line 2): it is out of the range of a double");
}

TEST_F(CsvTest, LineEndsAndByteOrderMarks) {
  const std::string hash = table_hash(csv("a,b\n1,2\n3,4\n"));
  for (const std::string text : {"a,b\r\n1,2\r\n3,4\r\n", "a,b\r1,2\r3,4", "a,b\n1,2\n3,4",
                                 "\xef\xbb\xbf"
                                 "a,b\n1,2\n3,4\n",
                                 "\n\na,b\n\n1,2\n3,4\n\n", "\"a\",\"b\"\n\"1\",2\n3,4\n"}) {
    EXPECT_EQ(table_hash(csv(text)), hash) << text;
  }
  EXPECT_EQ(csv("a,b\r\n1,2\r\n3,4\r\n").row_name(1), "data row 2 (line 3)");
  EXPECT_EQ(csv("a,b\n\n1,2\n3,4\n").row_name(1), "data row 2");
}

TEST_F(CsvTest, QuotedNewlinesLeaveNoLineNumbers) {
  const Table table = csv("a,b\n\"x\ny\",\"1\"\n\"say \"\"hi\"\", z\",2\n");
  ASSERT_EQ(table.rows, 2U);
  EXPECT_EQ(table.columns[0].dictionary, (std::vector<std::string>{"x\ny", "say \"hi\", z"}));
  EXPECT_EQ(table.row_name(1), "data row 2");
}

TEST_F(CsvTest, ShapesAtTheEdge) {
  for (const std::string text : {"a,b", "a,b\n", "a,b\r\n\r\n"}) {
    const Table table = csv(text);
    EXPECT_EQ(table.rows, 0U);
    ASSERT_EQ(table.columns.size(), 2U);
    EXPECT_EQ(table.columns[1].name, "b");
  }
  EXPECT_EQ(csv("x\n1\n2\n").rows, 2U);
  EXPECT_EQ(csv("x\n1\n\"\"\n2\n").rows, 3U) << "pandas writes a missing value of a lone column so";
  const Table indexed = csv(",a,\n0,5,\n1,6,\n");
  EXPECT_EQ(indexed.columns[0].name, "");
  EXPECT_EQ(indexed.require("a").values[1], 6);
}

TEST_F(CsvTest, WideFilesAndLongRows) {
  std::string header = "c0", row = "0";
  for (int i = 1; i < 5000; ++i) {
    header += ",c" + std::to_string(i);
    row += "," + std::to_string(i);
  }
  const Table wide = csv(header + "\n" + row + "\n" + row + "\n");
  EXPECT_EQ(wide.rows, 2U);
  EXPECT_EQ(wide.require("c4999").values[1], 4999);
  const std::string text(5 << 20, 'x');
  EXPECT_EQ(csv("a,b\n1," + text + "\n2,y\n").require("b").dictionary[0].size(), text.size());
}

TEST_F(CsvTest, BrokenTextIsRefusedByLine) {
  EXPECT_EQ(csv_error(""), "data.csv: the file is empty");
  EXPECT_EQ(csv_error("\n\n"), "data.csv: the file has no header line");
  EXPECT_EQ(csv_error("a,b\n1,2\n\n3\n"), "data.csv: line 4 has 1 field, the header has 2");
  EXPECT_EQ(csv_error("a,b\n\"1\n\",2\n1,2,3\n"), "data.csv: line 4 has 3 fields, the header has 2");
  EXPECT_EQ(csv_error("a,b,a\n1,2,3\n"), "data.csv: two columns have the name \"a\"");
  EXPECT_EQ(csv_error("a,b\n1,2\n3,x\xe9y\n"), "data.csv: line 3, field 2 is not valid UTF-8");
  EXPECT_EQ(csv_error("a,b\n1,2\n\xe9,y\n"), "data.csv: line 3, field 1 is not valid UTF-8");
  EXPECT_EQ(csv_error(std::string("a,b\n1,2\n3,\0\n", 11)), "data.csv: line 3, field 2 holds a NUL byte");
  EXPECT_EQ(csv_error(std::string("\xff\xfe"
                                  "a\0",
                                  4)),
            "data.csv: is UTF-16 text, not UTF-8");
  EXPECT_EQ(csv_error("a,b\n1,\"2\n3,4\n"), "data.csv: line 2 opens a quote that is never closed");
  EXPECT_EQ(csv_error("a;b\n1,5;2\n"), "data.csv: the columns seem to be separated by semicolons");
  EXPECT_EQ(csv_error("a\tb\n1\t2\n"), "data.csv: the columns seem to be separated by tabs");
}

TEST_F(CsvTest, Utf8IsCheckedByRfc3629) {
  for (const std::string good :
       {"\xc3\xa9", "\xe2\x82\xac", "\xed\x9f\xbf", "\xf0\x9f\x98\x80", "\xf4\x8f\xbf\xbf"}) {
    EXPECT_EQ(csv("t\n" + good + "\n").columns[0].dictionary[0], good);
  }
  for (const std::string bad : {"\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
                                "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\x80", "\xe2\x82", "\xff"}) {
    EXPECT_EQ(csv_error("t\n" + bad + "\n"), "data.csv: line 2, field 1 is not valid UTF-8");
  }
}

TEST_F(CsvTest, FilesThatAreNoTables) {
  EXPECT_EQ(error_of([&] { read_table(path("absent.csv")); }), "absent.csv: No such file or directory");
  EXPECT_EQ(error_of([&] { read_table(path("")); }), ": is a directory, not a table");
  EXPECT_EQ(error_of([&] { read_table(write("x.csv", "PK\x03\x04zip")); }),
            "x.csv: is a ZIP archive or an Excel workbook, not a table");
  EXPECT_EQ(error_of([&] { read_table(write("x.parquet", "a,b\n1,2\n")); }),
            "x.parquet: is not a Parquet file");
  EXPECT_EQ(error_of([&] { read_table(write("x.feather", "a,b\n1,2\n")); }),
            "x.feather: is not a Feather file");
  EXPECT_EQ(csv("PAR1,x\n1,2\n").require("PAR1").values[0], 1);
}

TEST_F(CsvTest, APipeIsReadLikeAFile) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string text = "a,b\n";
  for (int i = 0; i < 50000; ++i) text += "1,2\n";
  std::thread writer([&] { write("pipe", text); });
  const Table table = read_table(path("pipe"));
  writer.join();
  EXPECT_EQ(table.rows, 50000U);
}

TEST_F(CsvTest, ManyBlocksKeepTheirOrder) {
  std::string text = "i,t\n";
  for (int i = 0; i < 400000; ++i) text += std::to_string(i) + ",t" + std::to_string(i % 1000) + "\n";
  const Table table = csv(text);
  ASSERT_EQ(table.rows, 400000U);
  for (int i = 0; i < 400000; ++i) {
    ASSERT_EQ(table.columns[0].values[i], i);
    ASSERT_EQ(table.columns[1].values[i], i % 1000);
  }
  EXPECT_EQ(csv_error(text + "1\n"), "data.csv: line 400002 has 1 field, the header has 2");
}

TEST(TableHash, SeesNamesTypesValuesAndTexts) {
  const Table base{.rows = 2, .columns = {{.name = "a", .values = {1, 2}}, {.name = "b", .values = {3, 4}}}};
  const std::string hash = table_hash(base);
  EXPECT_EQ(hash.size(), 32U);
  Table other = base;
  other.source = "elsewhere";
  other.first_line = 2;
  EXPECT_EQ(table_hash(other), hash);
  other.columns[0].name = "c";
  EXPECT_NE(table_hash(other), hash);
  other = base;
  other.columns[1].values[0] = 3.0000000001;
  EXPECT_NE(table_hash(other), hash);
  other = base;
  other.columns[0].type = ColumnType::boolean;
  EXPECT_NE(table_hash(other), hash);
  other = base;
  std::swap(other.columns[0], other.columns[1]);
  EXPECT_NE(table_hash(other), hash);
  other = base;
  other.columns[0].dictionary = {"x", "y"};
  EXPECT_NE(table_hash(other), hash);
  const Table zero{.rows = 1, .columns = {{.name = "a", .values = {0.0}}}};
  const Table negative{.rows = 1, .columns = {{.name = "a", .values = {-0.0}}}};
  EXPECT_EQ(table_hash(zero), table_hash(negative));
}

}  // namespace
}  // namespace hifi
