"""Every notebook of examples/notebooks runs from top to bottom, in less than a minute (two beside other work), and shows a picture first."""

import json
import time
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
preprocessors = pytest.importorskip("nbconvert.preprocessors")
pytest.importorskip("ipykernel")

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "examples" / "notebooks"
NEEDS = {"own-training": ["torch", "matplotlib"], "first-steps": ["pandas"], "tour": ["pandas"]}


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    for module in NEEDS.get(path.stem, []):
        pytest.importorskip(module)
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    start = time.monotonic()
    runner = preprocessors.ExecutePreprocessor(timeout=120, kernel_name="python3")
    runner.preprocess(notebook, {"metadata": {"path": str(tmp_path)}})  # raises with the cell's traceback
    assert time.monotonic() - start < 120
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    shown = json.dumps(first.outputs)
    assert "image/svg+xml" in shown or "image/png" in shown
    (tmp_path / "executed.ipynb").write_text(nbformat.writes(notebook))
