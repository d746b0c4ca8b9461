# Writes a source with the text of all TOML files below a folder:
#   cmake -D ROOT=... -D FOLDER=studies -D NAMESPACE=attica -D FUNCTION=embedded_cards -D OUT=... -P embed_cards.cmake
file(GLOB_RECURSE cards RELATIVE ${ROOT} ${ROOT}/${FOLDER}/*.toml)
list(SORT cards)
set(text "// Written by cmake/embed_cards.cmake: the files below ${FOLDER}.\n#include <array>\n\n#include \"attica/studies/card.hpp\"\n\nnamespace ${NAMESPACE} {\n\nstd::span<const attica::EmbeddedCard> ${FUNCTION}();\n\nstd::span<const attica::EmbeddedCard> ${FUNCTION}() {\n  // The compiler knows how long they are; counting in a constant expression ends at clang's limit.\n  using namespace std::string_view_literals;\n  static constexpr std::array all = {\n")
foreach(card ${cards})
  file(READ ${ROOT}/${card} content)
  string(APPEND text "    attica::EmbeddedCard{\"${card}\", R\"card(${content})card\"sv},\n")
endforeach()
string(APPEND text "    attica::EmbeddedCard{}};\n  return std::span<const attica::EmbeddedCard>(all).first(all.size() - 1);\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUT} "${text}")
