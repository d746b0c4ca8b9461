# Writes the git revision into a header, touching it only when it changed. Run at every build.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT revision)
  set(revision "unknown")
endif()
set(text "#pragma once
// Generated at every build.
namespace attica::app {
inline constexpr const char* kRevision = \"${revision}\";
}  // namespace attica::app
")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()
