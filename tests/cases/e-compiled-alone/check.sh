#!/usr/bin/env bash
# Every source includes what declares the names that it uses, and compiles alone (-DATTICA_TOGETHER=OFF).
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
/usr/bin/python3 includes.py "$project" >out 2>err || fail "$(cat out err)"
grep -qE '^[0-9]{3,} files, [0-9]{4,} names$' err || fail "read too little: $(cat err)"
# The fault that it is for: a function of another header, used without it.
mkdir -p tree/app
printf '#pragma once\nnamespace attica {\nvoid remark_of_run(int n);\n}\n' >tree/app/run.hpp
printf '#pragma once\nstruct Cost {\n  int n;\n};\n' >tree/app/estimate.hpp
printf '#include "attica/app/estimate.hpp"\nvoid estimate() { remark_of_run(1); }\n' >tree/app/estimate.cpp
/usr/bin/python3 includes.py tree >out 2>err && fail "a missing include goes unnoticed"
says out "app/estimate.cpp: uses remark_of_run, declared in app/run.hpp, which it does not include"
finish
