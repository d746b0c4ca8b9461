# cmake -DSOURCE=OUT.cpp "-DFILES=a;b" -P embed.cmake: a C++ file with the text of each file as attica::app::page_js, the name of the
# file with an underscore for its dots.
set(text "#include <string_view>\n\nnamespace attica::app {\n\n")
foreach(file IN LISTS FILES)
  file(READ ${file} content)
  cmake_path(GET file FILENAME name)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" name ${name})
  string(FIND "${content}" ")EMBEDDED\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${file} has the end of a raw string in it")
  endif()
  string(APPEND text "extern const std::string_view ${name};\nconst std::string_view ${name} = R\"EMBEDDED(${content})EMBEDDED\";\n\n")
endforeach()
file(WRITE ${SOURCE} "${text}}  // namespace attica::app\n")
