// What holds for all readers of users' files, whatever they read.
#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>
#include <catch2/catch.hpp>
#include <functional>
#include <string>
#include <vector>

#include "attica/core/bigrams/instances.hpp"
#include "attica/core/error.hpp"
#include "attica/core/language/text.hpp"
#include "attica/core/matrix_file.hpp"
#include "attica/core/plain_text.hpp"
#include "attica/core/potts/alignment.hpp"
#include "attica/core/table_reader.hpp"
#include "attica/core/text/corpus.hpp"
#include "attica/core/text/words.hpp"

using namespace attica;
using Catch::Contains;
using std::literals::string_literals::operator""s;

namespace readers_test {

/// A reader with a file that it takes, lines ending with LF.
struct Reader {
  std::string name;
  std::string content;
  std::function<std::string(const std::string& bytes)> read;  ///< in words of its own
  bool spreadsheet = false;                                   ///< UTF-16 with a mark is read
};

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += word + "|";
  return all;
}

std::string rows_of(const std::string& bytes, TableNames names) {
  TableReader reader(bytes, "file", names);
  std::string all;
  for (const TableField& field : reader.header()) all += field.text + "|";
  while (reader.next()) {
    for (const TableField& field : reader.row()) all += field.text + "|";
    all += "\n";
  }
  return all;
}

std::string numbers_of(const std::string& bytes) {
  const NumericTable table = parse_matrix(bytes, "file", CsvHeader::optional).table;
  std::string all = joined(table.columns);
  for (Eigen::Index k = 0; k < table.values.size(); ++k)
    all += fmt::format("{} ", table.values(k / table.values.cols(), k % table.values.cols()));
  return all;
}

std::string letters_of(const std::string& bytes, const char* name) {
  const Alignment alignment = parse_alignment(bytes, name);
  std::string all;
  for (Eigen::Index m = 0; m < alignment.sequences.rows(); ++m) {
    for (Eigen::Index k = 0; k < alignment.sequences.cols(); ++k)
      all += kAminoAcids[alignment.sequences(m, k)];
    all += "\n";
  }
  return all;
}

std::vector<Reader> readers() {
  std::string prose;
  for (int k = 0; k < 40; ++k)
    prose +=
        "The market rose, and money came to the bank of Été.\nTrade fell — summer, winter, "
        "spring — while rivers, mountains and music stayed.\n\n";
  const std::string table = "x,value\n1,2.5\n2,-3\n";
  return {
      {"table", table, [](const auto& b) { return rows_of(b, TableNames::required); }, true},
      {"JSON",
       "[{\"x\": 1, \"value\": 2.5},\n {\"x\": 2, \"value\": -3}]\n",
       [](const auto& b) { return rows_of(b, TableNames::required); },
       true},
      {"matrix", "1 2.5\n2 -3\n", numbers_of, true},
      {"named matrix", table, numbers_of, true},
      {"text", prose, [](const auto& b) { return joined(words_of(checked_text(b).text, 1)); }},
      {"vocabulary", prose, [](const auto& b) { return joined(read_words(b, 8).words); }},
      {"documents",
       prose,
       [](const auto& b) {
         return joined(read_text(b, {.least_count = 1, .least_tokens = 1}).vocabulary);
       }},
      {"stop words",
       "the # article\nof\n",
       [](const auto& b) { return joined(read_stop_words(b, "model.file")); }},
      {"letters",
       prose,
       [](const auto& b) { return joined(read_language(b, SymbolKind::letters, 30, 2).symbols); }},
      {"bigrams",
       prose,
       [](const auto& b) { return joined(text_chain(b, TextUnit::word, 6).symbols); }},
      {"FASTA", ">a é\nAC-Y\n>b\nDDEE\n", [](const auto& b) { return letters_of(b, "file.fa"); }},
      {"A3M", "#4\t1\n>a\nAC-Y\n>b\nDDaaEE\n", [](const auto& b) { return letters_of(b, "file"); }},
      {"Stockholm",
       "# STOCKHOLM 1.0\n#=GF AU é\na AC-Y\nb DDEE\n//\n",
       [](const auto& b) { return letters_of(b, "file.sto"); }},
      {"plain alignment", "AC-Y\nDDEE\n", [](const auto& b) { return letters_of(b, "file"); }},
  };
}

std::string with_line_ends(const std::string& text, const std::string& end) {
  std::string out;
  for (const char c : text) out += c == '\n' ? end : std::string(1, c);
  return out;
}

/// As a text of ASCII in wider characters.
std::string widened(const std::string& ascii, std::size_t bytes, bool little) {
  std::string out;
  for (const char c : ascii) {
    if (!little) out.append(bytes - 1, '\0');
    out += c;
    if (little) out.append(bytes - 1, '\0');
  }
  return out;
}

std::string ascii_only(std::string text) {
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  return text;
}

std::string compressed(const std::string& text, int (*filter)(archive*)) {
  std::string out(text.size() + (1 << 16), '\0');
  std::size_t used = 0;
  archive* const writer = archive_write_new();
  filter(writer);
  archive_write_set_format_raw(writer);
  archive_write_set_bytes_in_last_block(writer, 1);
  archive_write_open_memory(writer, out.data(), out.size(), &used);
  archive_entry* const entry = archive_entry_new();
  archive_entry_set_filetype(entry, AE_IFREG);
  archive_entry_set_pathname(entry, "file");
  archive_write_header(writer, entry);
  archive_write_data(writer, text.data(), text.size());
  archive_entry_free(entry);
  archive_write_close(writer);
  archive_write_free(writer);
  out.resize(used);
  return out;
}

TEST_CASE("every reader: mark, ends of lines, compression do not change what is read",
          "[core][readers]") {
  for (const Reader& reader : readers()) {
    INFO(reader.name);
    const std::string& text = reader.content;
    const std::string expected = reader.read(text);
    REQUIRE_FALSE(expected.empty());
    const std::string dressed = "\xEF\xBB\xBF" + with_line_ends(text, "\r\n");
    CHECK(reader.read("\xEF\xBB\xBF" + text) == expected);
    CHECK(reader.read(with_line_ends(text, "\r\n")) == expected);
    CHECK(reader.read(with_line_ends(text, "\r")) == expected);
    CHECK(reader.read(text.substr(0, text.size() - 1)) == expected);
    CHECK(reader.read(text + "\n\n") == expected);
    CHECK(reader.read(dressed) == expected);
    for (const auto filter : {archive_write_add_filter_gzip,
                              archive_write_add_filter_zstd,
                              archive_write_add_filter_bzip2,
                              archive_write_add_filter_xz}) {
      CHECK(reader.read(compressed(text, filter)) == expected);
      CHECK(reader.read(compressed(dressed, filter)) == expected);
    }
  }
}

TEST_CASE("every reader: UTF-16 with a mark is read of tables, else refused with the command",
          "[core][readers]") {
  for (const Reader& reader : readers()) {
    INFO(reader.name);
    const std::string text = ascii_only(reader.content);
    const std::string expected = reader.read(text);
    for (const bool little : {true, false}) {
      const std::string wide = (little ? "\xFF\xFE" : "\xFE\xFF") + widened(text, 2, little);
      if (reader.spreadsheet) {
        CHECK(reader.read(wide) == expected);
      } else {
        CHECK_THROWS_WITH(reader.read(wide),
                          Contains("UTF-16") && Contains("iconv -f UTF-16 -t UTF-8 FILE"));
      }
    }
  }
}

TEST_CASE("every reader: what is no text is refused by its name, compressed or not",
          "[core][readers]") {
  struct Format {
    std::string bytes;
    std::string name;
  };
  for (const Reader& reader : readers()) {
    INFO(reader.name);
    const std::string text = ascii_only(reader.content);
    const std::vector<Format> formats = {
        {widened(text, 2, true), "UTF-16LE"},
        {widened(text, 2, false), "UTF-16BE"},
        {widened(text, 4, true), "UTF-32LE"},
        {widened(text, 4, false), "UTF-32BE"},
        {"\xFF\xFE\0\0"s + widened(text, 4, true), "UTF-32"},
        {"\0\0\xFE\xFF"s + widened(text, 4, false), "UTF-32"},
        {"%PDF-1.7\n", "PDF"},
        {"{\\rtf1 text}", "RTF"},
        {"\xEF\xBB\xBF<!DOCTYPE html>\n<p>text", "HTML"},
        {"\n<mediawiki xmlns=\"x\">", "XML"},
        {"PK\x03\x04 xl/workbook.xml", "Excel .xlsx"},
        {"PK\x03\x04 word/document.xml", "Word .docx"},
        {"PK\x03\x04 arr_0.npy", ".npz"},
        {"PK\x03\x04 a.txt", "zip"},
        {"PAR1\x15\0\x15\0"s, "Parquet"},
        {"\x89HDF\r\n\x1a\n", "HDF5"},
        {"\x80\x04\x95", "pickle"},
        {"GGUF\x03\0\0\0"s, "GGUF"},
        {"%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 5.0\n", "Matrix Market"},
        {"MATLAB 7.3 MAT-file, Platform", "MATLAB"},
        {"Julia data file (HDF5), version 0.1.1", "JLD2"},
        {"SIMPLE  =                    T", "FITS"},
        {"root\0\0\xF6\x08"s, "ROOT"},
        {"<stata_dta><header>", "Stata"},
        {"$FL2@(#) SPSS DATA FILE", "SPSS"},
        {"Obj\x01\x04\x16"s, "Avro"},
        {"\xFF\xFF\xFF\xFF\x10\0\0\0"s, "Arrow stream"},
        {"CPYA 4.2673 552#\n", "Origin"},
        {"\x04\x22\x4D\x18\x64"s, "lz4"},
        {"x\x9C\x4B\x4C"s, "zlib"},
        {"<table border=\"1\">", "HTML"},
        {std::string(257, '\0') + "ustar" + std::string(250, '\0'), "tar"},
    };
    for (const auto& [bytes, name] : formats) {
      INFO(name);
      CHECK_THROWS_WITH(reader.read(bytes), Contains(name));
      CHECK_THROWS_WITH(reader.read(compressed(bytes, archive_write_add_filter_gzip)),
                        Contains(name));
    }
    const std::string whole = compressed(text, archive_write_add_filter_gzip);
    CHECK_THROWS_WITH(reader.read(whole.substr(0, whole.size() / 2)), Contains("gzip data"));
    CHECK_THROWS_WITH(reader.read("\x1F\x8B\x08"), Contains("gzip data"));
    for (const std::string& foreign : {text + "caf\xE9"s, text + "\xC0\xAF"s, text + "a\0b\0"s}) {
      CHECK_THROWS_AS(reader.read(foreign), Error);
    }
  }
}

TEST_CASE("every reader: compressed data are read to their end, or refused", "[core][readers]") {
  const auto filters = {archive_write_add_filter_gzip,
                        archive_write_add_filter_zstd,
                        archive_write_add_filter_bzip2,
                        archive_write_add_filter_xz};
  for (const Reader& reader : readers()) {
    INFO(reader.name);
    const std::string& text = reader.content;
    const std::string expected = reader.read(text);
    const std::size_t half = text.find('\n', text.size() / 2 - 1) + 1;
    for (const auto filter : filters) {
      // One after the other, as `cat` and parallel compressors write them.
      const std::string first = compressed(text.substr(0, half), filter);
      const std::string second = compressed(text.substr(half), filter);
      CHECK(reader.read(first + second) == expected);
      std::string other = second;
      other[0] = static_cast<char>(other[0] ^ 1);
      for (const std::string& rest :
           {"garbage"s, text.substr(half), other, second.substr(0, 3), second.substr(0, 10)}) {
        CHECK_THROWS_WITH(reader.read(first + rest), Contains(" data"));
      }
      CHECK_THROWS_WITH(reader.read(compressed(compressed(text, filter), filter)),
                        Contains("twice"));
    }
    // The sum of gzip's contents, and their length.
    const std::string whole = compressed(text, archive_write_add_filter_gzip);
    CHECK(reader.read(whole + std::string(512, '\0')) == expected);
    for (const std::size_t from_end : {1U, 5U}) {
      std::string damaged = whole;
      damaged[whole.size() - from_end] = static_cast<char>(damaged[whole.size() - from_end] ^ 1);
      CHECK_THROWS_WITH(reader.read(damaged), Contains("gzip data") && Contains("damaged"));
    }
    CHECK_THROWS_WITH(reader.read(whole.substr(0, whole.size() - 8)), Contains("truncated"));
  }
}

TEST_CASE("tables: numbers that may mean something else are remarked upon, or refused",
          "[core][readers]") {
  const auto remarks = [](const std::string& text) {
    TableReader reader(text, "file", TableNames::optional);
    while (reader.next()) {
    }
    std::string all;
    for (const std::string& remark : reader.remarks()) all += remark + "|";
    return all;
  };
  // Thousands, as German spreadsheets write them, in a table or a matrix.
  CHECK_THAT(remarks("x;value\n500;0.25\n1.000;0.5\n"),
             Contains("file:3: 1.000 in column 'x' was read as 1") && !Contains("value"));
  CHECK_THAT(remarks("x\tvalue\n500\t0.25\n1.000\t0.5\n"),
             Contains("1.000 in column 'x' was read"));
  CHECK_THAT(remarks("x,value\n500,0.25\n1.000,0.5\n"), Contains("1.000 in column 'x' was read"));
  CHECK_THAT(remarks("-2.000;7\n12.500;8\n"), Contains("-2.000 in column 1 was read as -2"));
  for (const char* decimals : {"x;value\n0.500;1\n1.000;2\n",  // no thousands begin with 0
                               "x;value\n1.5;1\n1.000;2\n",
                               "x;value\n1;2\n1000;3\n",
                               "x,value\n1.000,2\n",
                               "x\tvalue\n1.000\t2\n"}) {
    INFO(decimals);
    CHECK(remarks(decimals).empty());
  }
  // Decimal commas in a matrix without a header show by their zeros alone.
  for (const char* commas : {"1,05\n2,50\n", "12,5\n-3,05\n", "1,5,2,05\n"}) {
    INFO(commas);
    CHECK_THROWS_WITH(remarks(commas), Contains("decimals are written with a point"));
  }
  for (const char* whole : {"1,0\n2,10\n", "1,0.5\n2,05\n", "a,b\n1,05\n", "1,05,2\n2,1,1\n"}) {
    INFO(whole);
    CHECK_NOTHROW(remarks(whole));
  }
  // Those that show nothing are remarked on where numbers stand in pairs.
  for (const char* commas :
       {"1,5\n2,5\n", "12,5\n-3,15\n", "1,5,2,25\n", "1,50,2,25\n3,10,4,20\n"}) {
    INFO(commas);
    CHECK_THAT(remarks(commas), Contains("if commas stand for decimal points here, write points"));
  }
  for (const char* whole : {"1,10,2,3\n4,5,6,70\n",
                            "1,0,1,0\n",
                            "1,15,2\n",
                            "1;5\n2;5\n",
                            "1 5\n2 5\n",
                            "1.0,5\n2,5\n",
                            "a,b\n1,5\n2,5\n",
                            "[[1, 5], [2, 5]]"}) {
    INFO(whole);
    CHECK(remarks(whole).empty());
  }
  // Rows that are comments, whoever made them so.
  CHECK(remarks("run,x,value\na,1,2\n#b,2,3\n#3,3,4\nc,4,5\n") ==
        "file:3: 2 lines that begin with '#' have as many fields as a row: skipped as comments|");
  CHECK_THAT(remarks("1 2\n# 3 4\n5 6\n"), Contains("file:2: a line that begins with '#' has"));
  for (const char* comment :
       {"# x,value", "# a remark, and another", "#: RE,P P --> Z", "# 12", "#,"}) {
    INFO(comment);
    CHECK(remarks(std::string("x,value\n1,2\n") + comment + "\n3,4\n").empty());
  }
  // Names of columns that are numbers, above rows that are written otherwise.
  CHECK_THAT(remarks("10,20,30\n85.0,63.0,51.0\n"), Contains("was read as a row of numbers"));
  CHECK(remarks("10,20,30\n85,63,51\n").empty());
  for (const char* steps : {"0.1,0.2,0.3\n5,6,1\n", "0.01,0.1,1\n5,6,1\n", "-0.5,0.5,1.5\n5,6,1\n"})
    CHECK_THAT(remarks(steps), Contains("was read as a row of numbers"));
  for (const char* row : {"0.1,0.2\n5,6\n", "0.1,0.2,0.4,0.9\n", "0.3,0.2,0.1\n", "0.5,0.5,0.5\n"})
    CHECK(remarks(row).empty());
  CHECK(remarks("1.0,2.0,3.0\n85.0,63.0,51.0\n").empty());
  // pandas' orient="columns" and orient="index" of an array look alike.
  CHECK_THAT(remarks(R"({"0": {"0": 1, "1": 2}, "1": {"0": 3, "1": 4}})"), Contains("transposed"));
  CHECK(remarks(R"({"x": {"0": 1, "1": 2}, "y": {"0": 3, "1": 4}})").empty());
  CHECK(remarks(R"({"0": [1, 2], "1": [3, 4]})").empty());
  // What cannot be seen is no part of a name.
  for (const char* name : {"x\xC2\xA0", "\xE2\x80\x8Bx", "x\xEF\xBB\xBF"}) {
    CHECK_THROWS_WITH(remarks(std::string("value,") + name + "\n1,2\n"),
                      Contains("a character that cannot be seen (U+"));
  }
}

TEST_CASE("without_compression: the name that an ending was added to", "[core][readers]") {
  CHECK(without_compression("a.a3m.gz") == "a.a3m");
  CHECK(without_compression("a.A3M.XZ") == "a.A3M");
  CHECK(without_compression("a.a3m") == "a.a3m");
  CHECK(without_compression(".gz") == ".gz");
  const std::string a3m = ">a\nAC-Y\n>b\nDDaaEE\n";
  const std::string packed = compressed(a3m, archive_write_add_filter_gzip);
  CHECK(letters_of(packed, "f.a3m.gz") == letters_of(a3m, "f.a3m"));
  CHECK_THROWS_WITH(letters_of(packed, "f.fa.gz"), Contains("a sequence of 6 letters"));
}

}  // namespace readers_test
