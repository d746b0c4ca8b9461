"""Every notebook of examples/notebooks runs from top to bottom, in less than a minute of processor time, and shows a picture first."""

import resource
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbconvert = pytest.importorskip("nbconvert")
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
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    first = next(cell for cell in notebook.cells if cell.cell_type == "code")
    assert any({"image/png"} <= set(output.get("data", {})) for output in first.outputs)
    for output in outputs:
        data = output.get("data", {})
        assert not ("<img" in data.get("text/html", "") and "image/png" not in data), data["text/plain"]
        assert output.get("name") != "stderr" or "Warning" in output["text"], output  # a progress bar leaves nothing
    if path.stem == "first-steps":  # what a paper is made of; text would need pandoc
        notebook.cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        _, resources = nbconvert.LatexExporter().from_notebook_node(notebook)
        assert any(name.endswith(".pdf") for name in resources["outputs"])
