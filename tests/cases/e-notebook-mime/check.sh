#!/usr/bin/env bash
# Figures of an executed notebook are there as PNG and SVG for LaTeX and PDF, and a progress bar leaves nothing.
source "$(dirname "${BASH_SOURCE[0]}")/../case.sh"
/usr/bin/python3 -c "import nbconvert, ipykernel" 2>/dev/null || {
  echo "SKIPPED: no nbconvert here" >&2
  exit 0
}
cat >write.py <<'PY'
import json

lines = ["import attica", "r = attica.run('gauss-double-descent', sites=21, alpha=[0.5, 2.0], replicates=40, margin=0.2)", "r"]
cells = [{"cell_type": "code", "id": f"c{k}", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
         for k, source in enumerate(["\n".join(lines), "attica.theory('gauss-lambda').figure()", "r.figure()"])]
json.dump({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, open("n.ipynb", "w"))
PY
python 0 write.py
python 0 -m nbconvert --to notebook --execute n.ipynb --output done.ipynb
cat >read.py <<'PY'
import json
import re

outputs = [o for cell in json.load(open("done.ipynb"))["cells"] for o in cell["outputs"]]
outputs = [o for o in outputs if o.get("data") != {"text/plain": ""}]  # where a bar was, for what took long
print(len(outputs), [o["output_type"] for o in outputs])
ids = []
for o in outputs:
    assert {"image/svg+xml", "image/png", "application/pdf", "text/html", "text/plain"} <= set(o["data"]), list(o["data"])
    ids += re.findall(r"\bid=[\"']([^\"']+)", "".join(o["data"]["image/svg+xml"]))
print("unique" if len(ids) == len(set(ids)) > 0 else "not unique")
PY
python 0 read.py
says out "3 ['execute_result', 'execute_result', 'execute_result']"
says out "unique"
python 0 -m nbconvert --to latex done.ipynb
[ "$(grep -c 'adjustimage.*[.]pdf' done.tex)" -eq 3 ] || fail "LaTeX without the figures"
[ "$(find . -name 'done_*.pdf' -size +2k | wc -l)" -eq 3 ] || fail "no figures beside it: $(find . -name 'done_*')"
finish
