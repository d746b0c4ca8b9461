#pragma once
/// @file
/// @brief Formulas over one table of names, compiled once: names become places in an array of
/// numbers, and no text is read again.

#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attica/solvers/formula/syntax.hpp"

namespace attica::formula {

/// A list of numbers: given, or by a formula of an index.
struct ListText {
  std::string where;  ///< "theory.lists.s", for messages
  std::string name;
  std::vector<double> values = {};
  std::vector<double> weights = {};  ///< as many, or none: all 1
  /// Unless values are given: name of the index, its first and last value, the value there.
  std::string index = {};
  std::string from = "1";
  std::string to = {};
  std::string value = {};
  std::string weight = {};  ///< empty: 1
};

enum class Op {
  number,
  variable,
  element,
  list_element,
  negative,
  add,
  subtract,
  multiply,
  divide,
  power,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  different,
  both,
  either,
  choice,
  function,
  atan2,
  minimum,
  maximum,
  total,
  average,
  normal,
  normal_pair,
  integral,
  mean,
  sum,
  root,
  argmin,
  slope,
};

/// Powers that are computed without the general function, besides 2, 3 and 4.
constexpr int kRootPower = 5;         ///< 0.5
constexpr int kInverseRootPower = 6;  ///< -0.5
constexpr int kInversePower = 7;      ///< -1
double small_power(double x, int power);

/// A compiled node; its parts are numbers of other nodes.
struct Code {
  Op op = Op::number;
  double number = 0;
  int slot = -1;        ///< variable, first element of an array, number of a list, name bound
  int slot2 = -1;       ///< second name bound
  int size = 0;         ///< elements of an array
  int small_power = 0;  ///< 2, 3, 4: of a variable, as products; or one of the above
  double (*function)(double) = nullptr;
  std::vector<int> parts = {};
  bool careful = false;               ///< holds a binder: evaluated only where its value is needed
  std::vector<int> bound_used = {};   ///< of a binder: bound slots that it reads from outside
  int state = -1;                     ///< of a binder: its own workspace
  int derivative = -1;                ///< argmin, slope: node of the derivative; -1: by differences
  std::vector<int> definitions = {};  ///< slope by differences: what moves with the name
  std::vector<int> edges = {};        ///< of a slope: numbers that change at a kink or jump
  bool inside = false;                ///< slope: a name is bound around it
  std::string text = {};              ///< of a binder: how messages call it
};

/// An operation on numbers of an evaluator, which writes another one.
struct Instruction {
  enum class Do : unsigned char {
    negative,
    add,
    subtract,
    multiply,
    divide,
    square,
    cube,
    fourth,
    root,
    inverse_root,
    inverse,
    power,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    different,
    both,
    either,
    choice,
    minimum,
    maximum,
    atan2,
    function,
  } what = Do::add;
  int to = -1;
  int a = -1, b = -1, c = -1;  ///< places of what it reads
  double (*function)(double) = nullptr;

  bool operator==(const Instruction& other) const = default;
};

/// Formulas without binders and elements, in the order in which they are computed; what stands in
/// several of them is computed once.
struct Program {
  std::vector<Instruction> instructions;
  std::vector<int> results;  ///< places
};

/// What is evaluated together.
struct Group {
  std::vector<int> roots;
  Program program = {};                      ///< of the roots that have one
  std::vector<std::size_t> programmed = {};  ///< which these are
  std::vector<std::size_t> others = {};
  std::vector<int> moving;         ///< definitions that are evaluated before, in order
  std::vector<std::string> where;  ///< of each root, for messages
  int index = -1;                  ///< slot of an index that runs from 1 to count; -1: none
  std::size_t count = 1;
};

/// @brief Names and formulas.
///
/// First the names, then the formulas that use them. Names: scalars, whose values are set; states,
/// which move (they change more often than scalars); definitions, which are formulas or lists and
/// may use each other in any order, but not in a circle.
class Sheet {
 public:
  /// @brief A number that is set from outside. @param moves it is a state, or the time of one
  /// @param where the key that names it, for messages; empty: the name
  /// @return its place. @throws Error of kind input if the name stands twice or is a constant
  int scalar(const std::string& name, bool moves = false, const std::string& where = {});
  /// @brief States name[1] ... name[size]. @return the place of the first
  int array(const std::string& name, std::size_t size, const std::string& where = {});
  /// @brief A definition by a formula.
  void define(const std::string& name, const Text& text);
  void define(ListText list);

  /// @brief Compiles formulas that are evaluated together.
  /// @throws Error of kind input for unknown names, with the nearest known one
  Group compile(const std::vector<Text>& texts);
  /// @brief Compiles formulas with an index from 1 to count.
  Group compile(const std::vector<Text>& texts, const std::string& index, std::size_t count);

  /// @brief Refuses definitions that nothing uses. @throws Error of kind input
  void require_used() const;

  std::size_t slots() const { return slots_; }
  bool known(const std::string& name) const { return names_.count(name) != 0; }

  // What an evaluator reads.
  struct Definition {
    Text text = {};
    ListText list = {};
    bool is_list = false;
    int slot = -1;         ///< its value; of a list, its number
    int root = -1;         ///< of a list by formula: value
    Program program = {};  ///< of a formula: empty where it has binders or elements
    int weight = -1;       ///< of a list: weight; -1: none
    int from = -1;
    int to = -1;
    int index = -1;  ///< slot of the list's index
    bool moves = false;
    bool used = false;
    enum class Progress { none, compiling, done } progress = Progress::none;
    std::set<int> needs = {};           ///< slots of scalars and states on which it depends
    std::vector<int> definitions = {};  ///< on which it depends, in order
  };
  const std::vector<Code>& codes() const { return codes_; }
  /// @brief Whether all values are arithmetic, sums and means of lists: the same at half the
  /// effort.
  bool exact() const;
  const std::vector<Definition>& definitions() const { return definitions_; }
  /// @brief Definitions that formulas use, each after those it needs.
  const std::vector<int>& order() const { return order_; }
  /// @brief Numbers of the formulas, and their places.
  const std::vector<std::pair<int, double>>& constants() const { return constants_; }
  int states() const { return states_; }
  int lists() const { return lists_; }

 private:
  struct Name {
    enum class What { scalar, array, definition } what = What::scalar;
    int slot = -1;
    std::size_t size = 1;
    bool moves = false;
    int definition = -1;
  };
  struct Bound {
    std::string name;
    int slot;
  };
  /// While one formula is compiled.
  struct Compiling {
    const Text& text;
    std::vector<Bound> bound = {};
    std::set<int> needs = {};
    std::set<int> definitions = {};
    bool moves = false;
  };
  struct Compiled {
    int code = -1;
    std::set<int> bound = {};  ///< bound slots that it reads
    bool careful = false;
  };

  void take(const std::string& name, const std::string& where, Name entry);
  void require_name(const std::string& name, const std::string& where) const;
  int new_slot() { return static_cast<int>(slots_++); }
  void resolve(int definition);
  void use(int definition, Compiling& c);
  Compiled compile(const Syntax& node, Compiling& c);
  Compiled compile_name(const Syntax& node, Compiling& c);
  Compiled compile_binder(const Syntax& node, Compiling& c);
  Compiled compile_slope(const Syntax& node, Compiling& c);
  int add(Code code);
  /// @return the place of a formula's value; -1: it has binders or elements
  int add_to(Program& program, int code);
  int add_to(Program& program, const Instruction& instruction);
  bool plain(int code) const;
  /// Derivatives by differences that stand inside of each other.
  int differences(int code) const;
  int constant_slot(double number);
  [[noreturn]] void unknown(const Syntax& node, const Compiling& c, const std::string& word) const;

  std::map<std::string, Name> names_;
  std::vector<Code> codes_;
  std::vector<Definition> definitions_;
  std::vector<int> order_;
  std::vector<std::pair<int, double>> constants_;
  std::size_t slots_ = 0;
  int states_ = 0;
  int lists_ = 0;
  int resolving_ = 0;
};

}  // namespace attica::formula
