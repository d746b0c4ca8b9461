/// @file
/// @brief The Python module `_processor`: the instructions of this build that the processor lacks.
/// Imported before `_attica`, whose loading alone would end in an illegal instruction; hence no
/// -march, and no C++ library.

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <string.h>  // NOLINT(*-deprecated-headers): no inline functions

#include "attica/core/instructions.hpp"

namespace {

PyObject* missing(PyObject* /*self*/, PyObject* /*arguments*/) {
  attica::InstructionSet sets[attica::kInstructionSets];
  attica::instruction_sets(sets);
  char names[256] = "";
  for (const attica::InstructionSet& set : sets) {
    if (!set.used || set.available) continue;
    if (names[0] != '\0') strcat(names, " ");
    strcat(names, set.name);  // twelve short names
  }
  return PyUnicode_FromString(names);
}

PyMethodDef functions[] = {
    {"missing",
     missing,
     METH_NOARGS,
     "missing() -> str: instruction sets that attica was built for and this processor lacks"},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef module = {PyModuleDef_HEAD_INIT,
                      "_processor",
                      nullptr,
                      -1,
                      functions,
                      nullptr,
                      nullptr,
                      nullptr,
                      nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__processor() { return PyModule_Create(&module); }
