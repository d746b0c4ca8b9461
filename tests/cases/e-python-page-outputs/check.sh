#!/usr/bin/env bash
# Outputs that a page quotes below a block of Python are compared with what it prints, to six digits.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
cat >right.md <<'PAGE'
# A page

```python
import attica

c = attica.theory("gauss-double-descent", rho=0.9, alpha=[0.5, 1.0, 2.0])
print(c["test_error"].at(lambda_=0.1).y)
print(str(c)[:30])
```

    [0.2367934 0.175201 0.14398533]
    Theory of gauss-double-...

PAGE
sed 's/0[.]175201/0.174531/' right.md >wrong.md
sed '/Theory of/d' right.md >short.md
bash "$project/tests/program/readme.sh" "$program" "$project" "$PWD/right.md" >out 2>err || fail "right: $(cat err)"
says out "1 commands, 1 quoted outputs"
for page in wrong short; do
  bash "$project/tests/program/readme.sh" "$program" "$project" "$PWD/$page.md" >out 2>err && fail "$page is not found"
done
finish
