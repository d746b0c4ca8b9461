// Any bytes are either a text that reads the same when it is decomposed, and whose words stay what
// they are when they are read again, or an Error of kind input.
#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "attica/core/bigrams/instances.hpp"
#include "attica/core/error.hpp"
#include "attica/core/language/text.hpp"
#include "attica/core/text/corpus.hpp"
#include "attica/core/text/words.hpp"

namespace {

std::string decomposed(const std::string& text) {
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> mapped(
      utf8proc_NFD(reinterpret_cast<const utf8proc_uint8_t*>(text.c_str())), &std::free);
  if (!mapped) std::abort();
  return reinterpret_cast<const char*>(mapped.get());
}

void require(bool holds) {
  if (!holds) std::abort();
}

template <typename Read>
void allow_refusal(const Read& read) {
  using namespace attica;
  try {
    read();
  } catch (const Error& error) {
    require(error.kind() == ErrorKind::input);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attica;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  allow_refusal([&] {
    const std::string text = checked_text(bytes).text;
    // An x in front: a second byte order mark, or the name of a format, would be looked at.
    require(checked_text("x" + decomposed(text)).text == checked_text("x" + text).text);
    for (const Spelling spelling : {Spelling::words, Spelling::letters}) {
      const std::vector<std::string> words = words_of(text, 1, spelling);
      std::string joined;
      for (const std::string& word : words) {
        require(!word.empty());
        joined += word + " ";
      }
      require(words_of(joined, 1, spelling) == words);
      require(checked_text("a " + joined).text == "a " + joined);  // valid, in form C
    }
    std::string whole;
    for (const std::string& character : characters_of(text)) whole += character;
    require(whole == text);
    require(spaceless_warning(text).size() <= 1);
  });
  allow_refusal([&] { read_stop_words(bytes, "model.stop_words"); });
  allow_refusal([&] {
    for (const TextUnits units : {TextUnits::lines, TextUnits::paragraphs, TextUnits::words}) {
      read_text(bytes, {.units = units, .unit_size = 2, .least_count = 1, .least_tokens = 1});
    }
  });
  allow_refusal([&] {
    const VocabularyText read = read_words(bytes, 4);
    for (const std::int32_t token : read.tokens) require(token >= 0 && token < 4);
  });
  allow_refusal([&] { read_language(bytes, SymbolKind::letters, 10, 1); });
  allow_refusal([&] { read_language(bytes, SymbolKind::words, 10, 1); });
  allow_refusal([&] { validate(text_chain(bytes, TextUnit::character, 4).chain); });
  allow_refusal([&] { validate(text_chain(bytes, TextUnit::word, 4).chain); });
  return 0;
}
