#pragma once
/// @file
/// @brief The one reader of the tables that users bring: CSV in every dress, and JSON.
///
/// Text: a header and a row a line. Columns are separated by commas, semicolons, tabs or runs of
/// spaces, whichever gives header and first row equally many fields, or as a first line `sep=;`
/// says. Lines end with LF, CRLF or CR; blank lines, rows of empty fields and lines that begin with
/// `#` are skipped; two blank lines between rows are refused (data blocks of gnuplot). Fields in
/// double quotes may hold separators; "" in them is a quote. Above rows of numbers without a
/// header, the comment line directly before them is the header if it has as many names
/// (numpy.savetxt). What may mean something else is remarked upon: thousands separated by points in
/// a table of semicolons, a first row that may be names, comments that may be rows, an end within a
/// number. Without a header, decimal commas that show by a leading zero (`1,05`) are refused.
///
/// JSON: a list of objects; an object a line; columns, each an object of rows (DataFrame.to_json())
/// or a list; pandas' orient="split". A list of lists of numbers is a table without names.
///
/// Compressed files and UTF-16 are read as `plain_text` does.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attica/core/error.hpp"

namespace attica {

/// A field and where it stands.
struct TableField {
  std::string text;
  std::size_t column = 1;  ///< of its first character in the line, from 1
};

enum class TableNames {
  required,  ///< the columns have names
  optional,  ///< a first row of numbers has none, unless it counts the columns: 0, 1, 2
};

/// @brief Reads a table row by row.
class TableReader {
 public:
  /// @param bytes of a file or of what a program printed
  /// @param source name of the file or program, for messages
  /// @throws Error of kind input: `SOURCE:LINE:COLUMN: error: what is wrong`
  TableReader(std::string_view bytes, std::string source, TableNames names);
  ~TableReader();
  TableReader(const TableReader&) = delete;
  TableReader& operator=(const TableReader&) = delete;

  const std::string& source() const { return source_; }
  /// @brief Distinct names, none of them empty; no fields if the table has none.
  const std::vector<TableField>& header() const { return header_; }
  std::size_t header_line() const { return header_line_; }
  /// @brief Whether the names stand in a comment above rows of numbers.
  bool header_is_comment() const { return named_comment_ != 0; }

  /// @brief Goes to the next row; false: there is none. @throws Error of kind input for a row with
  /// another number of fields than the header, or the first row, has
  bool next();
  const std::vector<TableField>& row() const { return row_; }
  /// @brief Line of the row; in JSON its number among the rows.
  std::size_t line() const { return line_; }
  /// @brief The line before the row, after another row, if it is blank, else 0.
  std::size_t blank_before() const { return blank_before_; }

  /// @brief What a user should know of how the table was read.
  const std::vector<std::string>& remarks() const { return remarks_; }

  /// @brief What the first line may be in place of a header, as the end of a message: "; a Markdown
  /// table? ...". Empty: nothing that is known.
  std::string layout_hint() const;

  [[nodiscard]] Error refusal(std::size_t line, std::size_t column, const std::string& what) const;

 private:
  struct Json;
  /// Whether a column's points may separate thousands, and the first number that has one.
  struct Thousands {
    bool possible = true;
    bool whole = false;  ///< a number has no point
    std::size_t line = 0;
    std::string text = {};
  };
  /// Of every second number, which may be the decimals of the one before it.
  struct Fractions {
    bool long_ones = false;  ///< one has two digits or more
    bool end_in_zero = false;
    bool of_one_length = true;
    std::size_t digits = 0;  ///< of the first one
  };

  bool next_line(std::string_view& line);
  void split(std::string_view line, std::vector<TableField>& into) const;
  bool next_record();
  void begin_text(TableNames names);
  void begin_json();
  void check_header();
  std::string unnamed_hint(std::size_t k) const;
  void require_no_decimal_commas();
  void remark_on_decimal_commas();
  void look_for_thousands();
  void remark_on_thousands();
  void look_at_last_number();
  void look_for_tiny();
  void remark_on_tiny();
  void remark_on_end();
  void look_for_row(std::string_view comment);
  void refuse_other_header(std::string_view comment) const;
  void take_comment(std::size_t fields);

  std::string source_;
  std::string text_;
  std::string_view rest_;
  char separator_ = ',';  ///< ' ': runs of spaces and tabs
  std::size_t at_line_ = 0;
  std::size_t width_ = 0;
  std::string_view comment_;  ///< the last one before the first row
  std::size_t comment_line_ = 0;
  std::size_t stated_line_ = 0;       ///< of "sep=;"
  std::string_view first_line_;       ///< that is neither blank nor a comment
  std::string_view names_;            ///< the comment that named the columns
  std::size_t named_comment_ = 0;     ///< its line
  std::string whole_first_;           ///< remark, if no row has whole numbers but the first
  bool first_written_whole_ = false;  ///< its numbers are written without points
  std::vector<Thousands> thousands_;  ///< of every column
  bool has_points_ = false;           ///< a row has a number that is written otherwise than 12
  Fractions fractions_;               ///< while all numbers are whole
  std::size_t blank_ = 0;             ///< a blank line after the row before
  std::size_t blanks_ = 0;            ///< how many
  std::size_t remarked_ = 0;          ///< a comment after the row before
  std::size_t skipped_ = 0;           ///< the first comment that may be a row
  std::size_t skipped_count_ = 0;     ///< how many
  std::string tiny_;                  ///< the first number that is too small for a double
  std::size_t tiny_line_ = 0;         ///< its line
  std::size_t tiny_count_ = 0;        ///< how many
  std::string last_number_;           ///< the last field of the row before, if it is a number
  std::size_t last_number_line_ = 0;  ///< its line
  std::size_t shortest_ = std::string::npos;  ///< characters of those before it, at least
  bool held_ = false;                         ///< the first row was read with the header
  std::vector<TableField> header_;
  std::size_t header_line_ = 1;
  std::vector<TableField> row_;
  std::size_t line_ = 0;
  std::size_t blank_before_ = 0;
  std::size_t rows_ = 0;
  std::vector<std::string> remarks_;
  std::unique_ptr<Json> json_;
};

}  // namespace attica
