"""Every notebook of examples/notebooks runs from top to bottom, in less than a minute of processor time, and shows a picture first."""

import json
import resource
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
preprocessors = pytest.importorskip("nbconvert.preprocessors")
pytest.importorskip("ipykernel")

NOTEBOOKS = Path(__file__).resolve().parent.parent.parent / "examples" / "notebooks"
NEEDS = {"own-training": ["torch", "matplotlib"], "first-steps": ["pandas"], "tour": ["pandas"]}


def processor_seconds():
    """Of processes that have ended, kernels among them: what other work on the machine takes does not count."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook(path, tmp_path):
    for module in NEEDS.get(path.stem, []):
        pytest.importorskip(module)
    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "outputs are not committed"
    start = processor_seconds()
    runner = preprocessors.ExecutePreprocessor(timeout=900, kernel_name="python3")
    runner.preprocess(notebook, {"metadata": {"path": str(tmp_path)}})  # raises with the cell's traceback
    assert processor_seconds() - start < 60
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    shown = json.dumps(first.outputs)
    assert "image/svg+xml" in shown or "image/png" in shown
    (tmp_path / "executed.ipynb").write_text(nbformat.writes(notebook))
