"""examples/workflows: each is run as its users do, where the tool is installed."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
EXAMPLES = ROOT / "examples" / "workflows"


@pytest.fixture
def folder(tmp_path):
    """A copy of the examples, and an `attica` in the path."""
    shutil.copytree(EXAMPLES, tmp_path / "workflows")
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "attica").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m attica "$@"\n')
    (tools / "attica").chmod(0o755)
    return tmp_path / "workflows"


def call(command, cwd, **more):
    path = f"{cwd.parent.parent / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env={**os.environ, "PATH": path, **more})


def make_wrong(folder):
    question = folder / "question.toml"
    question.write_text(question.read_text().replace('"n/(n + 1)"', '"n/(n + 4)"'))


def test_pytest(folder):
    done = call([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_attica"], folder / "pytest")
    assert done.returncode == 0 and "3 passed" in done.stdout and done.stdout.count("AGREE ") == 3, done.stdout + done.stderr


def test_make(folder):
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    done = call(["make"], folder / "make")
    assert done.returncode == 0 and "AGREE: 3 of 3 points agree" in done.stdout, done.stdout + done.stderr
    assert "awk" not in call(["make"], folder / "make").stderr and call(["make", "table"], folder / "make").returncode == 0
    assert (folder / "make" / "verdict.md").read_text().startswith("**AGREE**")
    make_wrong(folder)
    done = call(["make"], folder / "make")
    assert done.returncode != 0 and "DISAGREE" in done.stdout
    assert call(["make", "table"], folder / "make").returncode == 0
    assert "| y n=3 | DISAGREE | simulation 0.7" in (folder / "make" / "verdict.md").read_text()


def test_github(folder):
    """The script of the action, as a runner calls it."""
    action = (ROOT / "action.yml").read_text()
    script = "\n".join(line[8:] for line in action.split("run: |\n", 1)[1].splitlines())
    environment = {
        "RUNNER_TEMP": str(folder), "GITHUB_STEP_SUMMARY": str(folder / "summary.md"), "GITHUB_OUTPUT": str(folder / "output"),
        "GITHUB_ACTION_PATH": str(ROOT), "QUESTION": "../question.toml", "ARGUMENTS": "--out runs", "ATTICA": "attica",
        "INCONCLUSIVE": "pass",
    }

    def step(**more):
        return call(["bash", "-e", "-o", "pipefail", "-c", script], folder / "github", **{**environment, **more})

    done = step()
    assert done.returncode == 0 and (folder / "output").read_text() == "verdict=AGREE\n", done.stdout + done.stderr
    assert "**AGREE**" in (folder / "summary.md").read_text()
    few = {"ARGUMENTS": "--out few --replicates 10"}
    done = step(**few)
    assert done.returncode == 0 and "::warning title=attica INCONCLUSIVE::y n=" in done.stdout
    assert step(**{**few, "ARGUMENTS": "--out fewer --replicates 10", "INCONCLUSIVE": "fail"}).returncode == 3
    make_wrong(folder)
    done = step()
    assert done.returncode == 1 and "::error title=attica DISAGREE::y n=3: simulation 0.7" in done.stdout
    assert step(QUESTION="missing.toml").returncode == 2
    for key in ("name:", "inputs:", "outputs:", "using: composite"):
        assert key in action


def test_snakemake(folder):
    if not shutil.which("snakemake"):
        pytest.skip("snakemake is not installed")
    done = call(["snakemake", "--cores", "1", "-q"], folder / "snakemake")
    assert done.returncode == 0 and (folder / "snakemake" / "verdict.md").read_text().startswith("**AGREE**"), done.stderr


def test_dvc(folder):
    if not shutil.which("dvc"):
        pytest.skip("dvc is not installed")
    for command in (["git", "init", "-q"], ["dvc", "init", "-q", "--subdir"], ["dvc", "repro", "-q"]):
        done = call(command, folder / "dvc")
        assert done.returncode == 0, done.stderr
    assert json.loads((folder / "dvc" / "metrics.json").read_text())["verdict"] == "AGREE"


def test_the_commands_of_dvc(folder):
    """Its stages, one after the other, where DVC is not."""
    commands = re.findall(r"cmd: (.*)", (folder / "dvc" / "dvc.yaml").read_text())
    assert len(commands) == 2
    for command in commands:
        done = call(["sh", "-c", command], folder / "dvc")
        assert done.returncode == 0, done.stderr
    found = json.loads((folder / "dvc" / "metrics.json").read_text())
    assert found["verdict"] == "AGREE" and found["compared"] == found["agree"] == 3 and 0 < found["resolution"] < 0.2


def test_verdict_without_a_record(folder):
    (folder / "empty.json").write_text("")
    done = call([sys.executable, "../verdict.py", "../empty.json"], folder / "make")
    assert done.returncode == 2 and "no verdict of attica" in done.stderr


def test_files_for_other_tools(folder):
    """--junit, --metrics and --folder: what a CI that knows no attica reads."""
    import xml.etree.ElementTree as tree

    command = ["attica", "run", "question.toml", "--folder", "results/largest", "--junit", "results.xml", "--metrics", "metrics.json",
               "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                          env={**os.environ, "PATH": f"{folder.parent / 'bin'}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert (folder / "results" / "largest" / "check.json").exists() and not (folder / "runs").exists()
    suite = tree.parse(folder / "results.xml").getroot().find("testsuite")
    record = json.loads((folder / "results" / "largest" / "check.json").read_text())
    assert int(suite.get("tests")) == len(suite) == len(record["points"]) + len(record["claims"]) + 1
    assert suite.get("failures") == "0" and suite.get("skipped") == "0"
    numbers = json.loads((folder / "metrics.json").read_text())
    assert numbers["schema"] == "attica/metrics/1" and numbers["verdict"] == "AGREE" and numbers["agree"] == record["counts"]["agree"]
    # Another question does not go into that folder unasked.
    make_wrong(folder)
    environment = {**os.environ, "PATH": f"{folder.parent / 'bin'}:{os.environ['PATH']}"}
    done = subprocess.run([*command, "--resume"], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 2 and "--folder" in done.stderr and "--force" in done.stderr
    done = subprocess.run([*command, "--force"], cwd=folder, capture_output=True, text=True, env=environment)
    assert done.returncode == 1
    suite = tree.parse(folder / "results.xml").getroot().find("testsuite")
    failed = [case for case in suite if case.find("failure") is not None]
    assert len(failed) == int(suite.get("failures")) >= 2 and failed[-1].get("name") == "verdict"
    assert "theory" in failed[0].find("failure").get("message")
