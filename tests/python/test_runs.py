"""Runs: the program's code, files and verdicts."""

import csv
import errno
import filecmp
import os
import signal
import subprocess
import sys
import threading
import time

import attica
import pytest
from attica.program import call

SMALL = {"sites": 20, "alpha": [0.5, 2.0], "lambda_": [0.1]}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs")
    return attica.run("gauss-double-descent", **SMALL, replicates=200, seed=7, margin=0.1, threads=2, name="mine", out=out)


def test_a_run_is_the_programs_run(run, program, tmp_path):
    sets = ["model.sites=20", "sweep.alpha=[0.5, 2.0]", "sweep.lambda=[0.1]", "check.margin=0.1"]
    arguments = [part for assignment in sets for part in ("--set", assignment)]
    end = program(
        "run", "gauss-double-descent", *arguments, "--seed", "7", "--replicates", "200", "--threads", "1", "--name", "mine",
        "--out", str(tmp_path),
    )
    assert end.returncode == 0, end.stderr
    own = tmp_path / run.folder.name  # the same hash
    for name in ("results.csv", "replicates.csv", "theory.json", "config.resolved.toml"):
        assert filecmp.cmp(own / name, run.folder / name, shallow=False), name


def test_what_a_run_holds(run):
    assert str(run.verdict) == run.verdict == "AGREE" and bool(run.verdict) and run.study == "gauss-double-descent"
    with open(run.folder / "replicates.csv") as file:
        rows = sum(1 for _ in file) - 1
        assert len(run.replicates) == rows and rows % 200 == 0
    with open(run.folder / "results.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [repr(r["mean"]) for r in run.results] == [repr(float(r["mean"])) for r in rows]
    parts = {"test_error", "train_error", "bias", "sampling_variance", "noise_variance"}
    assert {p["series"] for p in run.points} == parts and len(run.points) == 8  # two claim too little
    assert all(p["n"] == 200 and p["lambda"] == 0.1 for p in run.points)
    by_series = {r["series"]: r for r in run.resolution}
    assert 0 < by_series["test_error"]["not_agree"] < by_series["test_error"]["disagree"] < 1
    assert run.coarsest_resolution == max(r["not_agree"] for r in run.resolution)
    values = [r["value"] for r in run.replicates.where(series="test_error", alpha=None) if r["x"] == run.points[0]["x"]]
    assert abs(sum(values) / len(values) / run.points[0]["mean"] - 1) < 1e-12
    assert run.replicates.to_pandas().shape == (len(run.replicates), len(run.replicates.columns))


def test_what_notebooks_show(run):
    page = run._repr_html_()
    assert "AGREE</span>" in page and "data:image/svg+xml;base64," in page and run.folder.name in page
    assert run.figure().path.parent == run.folder / "plots" and run.figure("pdf").data[:4] == b"%PDF"
    assert run.report().read_text().startswith("<!doctype html>".upper()[:2]) and run.report().name == "report.html"
    assert run.figure(style="neurips", width="full").data != b""
    with pytest.raises(attica.Error, match="expected svg, pdf, png or tex"):
        run.figure("gif")
    assert "<td>AGREE</td>" in run.points._repr_html_()


def test_a_run_again_is_opened_not_simulated(run):
    before = os.stat(run.folder / "replicates.csv").st_mtime_ns
    again = attica.run(
        "gauss-double-descent", **SMALL, replicates=200, seed=7, margin=0.1, name="mine", out=run.folder.parent
    )
    assert again.folder == run.folder and not list((run.folder / "parts").glob("*.tmp"))
    assert again.replicates == run.replicates and before <= os.stat(run.folder / "replicates.csv").st_mtime_ns
    with pytest.raises(attica.Error, match="exists") as refusal:
        attica.run(
            "gauss-double-descent", **SMALL, replicates=200, seed=7, margin=0.1, name="mine", out=run.folder.parent,
            resume=False,
        )
    assert refusal.value.exit_code == 5


def test_open_and_find(run, tmp_path):
    assert attica.open(run.folder).record == run.record
    assert attica.open("mine", out=run.folder.parent).folder == run.folder
    assert attica.find("mine", run.folder.parent) == run.folder
    with pytest.raises(attica.Error, match="no run 'min' in"):
        attica.open("min", out=run.folder.parent)
    with pytest.raises(attica.Error, match="not a run|no run"):
        attica.open(tmp_path)


def test_names_are_not_patterns(tmp_path):
    """`mine` is mine-<8 hexadecimal digits>, not mine-b-..., and characters of patterns mean themselves."""

    def folder(name, age):
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").write_text("{}")
        os.utime(tmp_path / name / "run.json", (time.time() - age, time.time() - age))

    folder("mine-0123abcd", 30)
    folder("mine-deadbeef", 20)
    folder("mine-b-89abcdef", 10)
    folder("mine-0123abcd-shard1of2", 5)
    folder("mine-0123abcde", 4)
    folder("m[i]ne-01234567", 3)
    assert attica.find("mine", tmp_path).name == "mine-deadbeef"
    assert attica.find("mine-b", tmp_path).name == "mine-b-89abcdef"
    assert attica.find("m[i]ne", tmp_path).name == "m[i]ne-01234567"
    for name in ("m*", "mine-", "min", "", "MINE"):
        with pytest.raises(FileNotFoundError):
            attica.find(name, tmp_path)
    with pytest.raises(FileNotFoundError):
        attica.find("mine", tmp_path / "nowhere")


def test_undecided_is_not_a_condition(tmp_path):
    few = attica.run("gauss-double-descent", **SMALL, replicates=3, out=tmp_path, margin=0.01)
    assert few.verdict == "INCONCLUSIVE" and "INCONCLUSIVE</span>" in few._repr_html_()
    with pytest.raises(attica.Error, match="the data do not decide") as refusal:
        if few.verdict:
            pass
    assert refusal.value.exit_code == 3
    with pytest.raises(attica.Error, match="nothing was compared"):
        bool(attica.Verdict("NONE"))
    assert not attica.Verdict("DISAGREE") and attica.Verdict("CLAIMS HOLD")
    assert f"{few.verdict}" == "INCONCLUSIVE" and few.verdict != "AGREE"


@pytest.mark.filterwarnings("ignore:columns without variance")
def test_a_wrong_theory_disagrees(tmp_path):
    wrong = attica.run("gauss-double-descent", preset="demo", standardise=True, replicates=100, out=tmp_path)
    assert wrong.verdict == "DISAGREE" and not wrong.verdict  # digits.csv is found beside the package, too


def test_exponents(tmp_path):
    run = attica.run("bigrams-complexity", out=tmp_path, replicates=3, sweep={"context": [30, 60, 120]}, seed=1)
    exponents = run.fit()
    assert {e["name"] for e in exponents} == {"scratch", "transfer"} and all(len(e["medians"]) == 3 for e in exponents)


def test_errors_are_the_programs_sentences(run, tmp_path):
    with pytest.raises(attica.Error, match=r"parameter 'model.rho' = 3: expected -1 < rho < 1") as refusal:
        attica.run("gauss-double-descent", rho=3, out=tmp_path)
    assert refusal.value.exit_code == 2 and not list(tmp_path.iterdir())
    with pytest.raises(attica.Error, match="declares no exponents"):
        run.fit()
    with pytest.raises(attica.Error, match="threads"):
        attica.run("gauss-double-descent", threads=0, out=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(attica.Error) as refusal:
        attica.run("gauss-double-descent", **SMALL, out=tmp_path / "file")
    assert refusal.value.exit_code == 5


def test_stopped_by_time_and_carried_on(tmp_path):
    long = dict(study="gauss-double-descent", sites=60, replicates=20000, out=tmp_path, threads=2)
    with pytest.raises(attica.Error) as stopped:
        attica.run(**long, max_time=0.5)
    assert stopped.value.exit_code == 75
    with pytest.raises(attica.Error, match="not finished"):
        attica.open(next(tmp_path.iterdir()))


def test_an_interrupt_reaches_the_run(tmp_path):
    """As Ctrl-C does: the run stops at a checkpoint, nothing of it is left running."""
    script = (
        "import attica, sys\n"
        "try:\n"
        f"    attica.run('gauss-double-descent', replicates=1000000, threads=1, out={str(tmp_path)!r})\n"
        "except KeyboardInterrupt:\n"
        "    sys.exit(42)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    for _ in range(600):
        if list(tmp_path.glob("*/parts/*.part")):
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=30) == 42
    run = next(tmp_path.iterdir())
    count = len(list((run / "parts").glob("*.part")))
    time.sleep(0.5)
    assert count > 0 and len(list((run / "parts").glob("*.part"))) == count


def test_progress_is_shown_and_no_part_of_errors(tmp_path, capfd, monkeypatch):
    monkeypatch.delenv("TERM", raising=False)  # as a notebook's server may be started
    attica.run("gauss-double-descent", sites=60, replicates=60, threads=1, out=tmp_path, progress=True)
    shown = capfd.readouterr().err
    assert "%" in shown and "[=" in shown and "\x1b" not in shown and shown.endswith("\r")
    with pytest.raises(attica.Error, match=r"^--set model.rho=3: error: parameter"):
        attica.run("gauss-double-descent", rho=3, progress=True, out=tmp_path)
    attica.run("gauss-double-descent", **SMALL, replicates=10, progress=False, out=tmp_path)
    assert capfd.readouterr().err == ""


def test_without_terminals_to_give_there_is_no_bar(tmp_path, capfd, monkeypatch):
    def none():
        raise OSError(errno.ENODEV, "No such device")

    monkeypatch.setattr(os, "openpty", none)
    run = attica.run("gauss-double-descent", **SMALL, replicates=10, out=tmp_path, progress=True)
    assert len(run.results) > 0
    assert "\r" not in capfd.readouterr().err


def test_runs_in_threads(tmp_path):
    """A run blocks nobody: theory goes on meanwhile."""
    done = []
    thread = threading.Thread(
        target=lambda: done.append(attica.run("gauss-double-descent", **SMALL, replicates=50, out=tmp_path))
    )
    thread.start()
    while thread.is_alive():
        attica.theory("gauss-double-descent", alpha=1.5)
    assert done[0].points[0]["n"] == 50


def test_the_module_is_the_program(program):
    end = subprocess.run([sys.executable, "-m", "attica", "list"], capture_output=True, text=True, check=True)
    assert end.stdout == program("list").stdout and call(["list"]).output == end.stdout
    assert call(["lisd"]).code == 2 and "did you mean 'list'" in call(["lisd"]).sentence()
