# Writes the git revision into a source, touching it only when it changed. Run at every build.
execute_process(COMMAND git -C ${SOURCE_DIR} describe --always --dirty --abbrev=12
                OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT revision)
  set(revision "unknown")
endif()
set(text "// Generated at every build.
#include \"attica/app/version.hpp\"

namespace attica::app {
const char* const kRevision = \"${revision}\";
}  // namespace attica::app
")
set(old "")
if(EXISTS ${SOURCE})
  file(READ ${SOURCE} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${SOURCE} "${text}")
endif()
