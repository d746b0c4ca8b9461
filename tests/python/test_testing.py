"""assert_agrees and the pytest plugin: error rates, budgets, and what a test suite sees."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import attica
import numpy as np
import pytest
from attica import testing
from attica.testing import Disagreement, Inconclusive, assert_agrees


def noise(x, rng, n):
    return x + rng.normal(size=n)


def slow(x, rng):
    return x + rng.normal()


def test_verdicts_raise_what_they_are():
    agreed = testing.decided(theory=lambda x: x, simulate=noise, x=[1, 2], margin=0.2, seconds=60)
    assert agreed.verdict == "AGREE" and agreed.coarsest_resolution > 0
    assert all(p["decided_at"] in agreed.record["sequential"]["looks"] for p in agreed.points)
    with pytest.raises(Disagreement) as found:
        assert_agrees(theory=lambda x: 1.5 * x, simulate=noise, x=[1, 2, 40], margin=0.01, seconds=60, seed=3)
    assert "DISAGREE" in str(found.value) and "y at x=40: simulation" in str(found.value) and "seed 3" in str(found.value)
    assert found.value.judgement.verdict == "DISAGREE" and isinstance(found.value, AssertionError)
    with pytest.raises(Inconclusive) as found:
        assert_agrees(theory=lambda x: x, simulate=noise, x=[1], margin=1e-3, replicates=640)
    assert re.search(r"about \d+ replicates would decide", str(found.value))
    needed = testing.replicates_needed(found.value.judgement)
    assert needed > 1e5


def test_a_budget_is_kept_and_a_repetition_says_the_same():
    few = testing.decided(theory=lambda x: x, simulate=slow, x=[1], margin=1e-4, seconds=0.2)
    assert few.verdict == "INCONCLUSIVE" and few.points[0]["n"] >= 8
    first, second = (testing.decided(theory=lambda x: x, simulate=noise, x=[1, 5], margin=0.1, seconds=60, seed=5) for _ in range(2))
    assert first.record == second.record
    one = testing.decided(theory=lambda x: x, simulate=slow, x=[1], margin=1e-4, seconds=0)
    assert one.verdict == "INCONCLUSIVE" and "one replicate" in one.points[0]["reason"]


def test_decided_points_are_simulated_no_further():
    calls = []

    def g(x, rng, n):
        calls.append((x, n))
        return x + (0.01 if x == 1 else 1) * rng.normal(size=n)

    found = testing.decided(theory=lambda x: x, simulate=g, x=[1, 2], margin=0.05, seconds=60)
    drawn = [sum(n for at, n in calls if at == x) for x in (1, 2)]
    assert found.verdict == "AGREE" and drawn[0] == 64 and drawn[1] > 1000
    assert [p["n"] for p in found.points][0] == 30


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"margin": None}, "parameter 'margin' is missing"),
        ({"theory": lambda x: 0.0}, "theory of 'y' is 0 at x = 1.0, and has no relative margin: give 'absolute'"),
        ({"seconds": -1}, "parameter 'seconds' = -1: expected a finite number >= 0"),
        ({"replicates": 0}, "expected a whole number >= 1"),
        ({"simulate": lambda x: x}, r"takes neither two nor three arguments; expected g\(x, rng\)"),
        ({"marign": 0.1}, "did you mean 'margin'"),
    ],
)
def test_what_has_no_verdict_is_refused(change, sentence):
    with pytest.raises(attica.Error, match=sentence):
        assert_agrees(**{**dict(theory=lambda x: x, simulate=noise, x=[1], margin=0.1), **change})


def test_failed_and_identical_replicates_are_never_a_pass():
    for g, reason in ((lambda x, rng, n: np.where(np.arange(n) == 5, np.nan, 1.0) + 1e-3 * rng.normal(size=n), "1 of 30 replicates failed"),
                      (lambda x, rng, n: np.full(n, 2.0), "are 2 to all digits")):
        with pytest.raises(Inconclusive, match=reason):
            assert_agrees(theory=lambda x: 2.0, simulate=g, x=[1], margin=0.5, seconds=60)


def test_given_replicates_are_judged_as_they_are():
    data = np.random.default_rng(1).normal(1, 0.1, size=(2, 50))
    assert assert_agrees(theory=[1, 1], simulate=data, x=[1, 2], margin=0.1).verdict == "AGREE"
    with pytest.raises(Disagreement):
        assert_agrees(theory=[1, 2], simulate=data, x=[1, 2], margin=0.1)


def test_rates():
    """tests/reliability/assert_agrees.py measures them with more runs."""

    def count(runs, **question):
        found = [str(testing.decided(x=[0], margin=None, seconds=1e6, seed=s, **question).verdict) for s in range(runs)]
        return {word: found.count(word) for word in ("AGREE", "DISAGREE", "INCONCLUSIVE")}

    def g(x, rng, n):
        return 1 + rng.normal(size=n)

    right = count(150, theory=lambda x: 1.0, simulate=g, absolute=0.02, replicates=240)
    assert right["DISAGREE"] <= 5  # 1 %: P(6 or more) = 0.004
    at_margin = count(150, theory=lambda x: 1.5, simulate=g, absolute=0.5, replicates=240)
    assert at_margin["AGREE"] <= 15 and at_margin["DISAGREE"] <= 5  # 5 %: P(16 or more) = 0.003
    # A bias of 2 % of the standard deviation beyond a margin of 0.5 %.
    assert count(3, theory=lambda x: 1.02, simulate=g, absolute=0.005, replicates=96000)["DISAGREE"] == 3


# --- g(x, rng, n) in judge ------------------------------------------------------------------------


def test_n_replicates_at_once_keep_the_first_ones():
    seen = []

    def g(x, rng, n):
        seen.append(n)
        return {"a": rng.normal(size=(n, 3)).sum(axis=1), "b": rng.random(n)}

    def values(replicates, seed=1):
        rows = attica.judge(theory=lambda x: {"a": 0.0, "b": 0.5}, simulate=lambda x, rng, n: keep(g(x, rng, n)), x=[1, 2],
                            replicates=replicates, seed=seed, absolute=1.0, out=None)
        return rows.points.column("mean")

    kept = []

    def keep(drawn):
        kept.append(drawn["a"][:3].tolist())
        return drawn

    values(10)
    few = kept.copy()
    kept.clear()
    values(700)
    assert few == [kept[0], kept[len(kept) // 2]] and seen[:2] == [64, 64] and set(seen) == {64, 72, 81}
    kept.clear()
    values(10, seed=2)
    assert kept[0] != few[0]
    scalar = attica.judge(theory=lambda x: 1.0, simulate=lambda x, rng: 1 + rng.normal(), x=[1], margin=0.5, replicates=400, out=None)
    block = attica.judge(theory=lambda x: 1.0, simulate=lambda x, seed, n: 1 + np.random.default_rng(seed).normal(size=n), x=[1],
                         margin=0.5, replicates=400, out=None)
    assert scalar.verdict == block.verdict == "AGREE" and block.points[0]["n"] == 400


def test_n_replicates_at_once_resume_and_are_checked():
    calls = []

    def g(x, rng, n):
        calls.append(n)
        if len(calls) == 4:
            raise RuntimeError("no more")
        return x + 0.1 * rng.normal(size=n)

    question = dict(theory=lambda x: x, simulate=g, x=[1.0, 2.0], margin=0.1, replicates=130, out=None)
    with pytest.raises(RuntimeError) as stopped:
        attica.judge(**question)
    assert len(stopped.value.simulated) == 130
    resumed = attica.judge(known=stopped.value.simulated, **question)
    whole = attica.judge(**question)
    assert resumed.points.column("mean").tolist() == whole.points.column("mean").tolist() and len(calls) == 4 + 3 + 6
    for bad, sentence in ((lambda x, rng, n: 1.0, r"shape \(\); expected \(64,\)"), (lambda x, rng, n: None, "gave None"),
                          (lambda x, rng, n: np.ones((2, n)), "expected \\(64,\\)")):
        with pytest.raises(attica.Error, match=sentence):
            attica.judge(**{**question, "simulate": bad})


# --- the plugin -----------------------------------------------------------------------------------

SUITE = '''
import numpy as np, pytest
from attica.testing import assert_agrees
def g(x, rng, n): return x + rng.normal(size=n)
def test_right(agrees): assert agrees(theory=lambda x: x, simulate=g, x=[1, 2], margin=0.2).verdict == "AGREE"
def test_wrong(agrees): agrees(theory=lambda x: 2 * x, simulate=g, x=[1, 2], margin=0.2)
def test_open(agrees): agrees(theory=lambda x: x, simulate=g, x=[1], margin=1e-4, replicates=100)
def test_open_then_wrong(agrees):
    agrees(theory=lambda x: x, simulate=g, x=[1], margin=1e-4, replicates=100)
    agrees(theory=lambda x: 2 * x, simulate=g, x=[1, 2], margin=0.2)
def test_plain_open(): assert_agrees(theory=lambda x: x, simulate=g, x=[1], margin=1e-4, replicates=100)
@pytest.mark.xfail
def test_expected_to_be_wrong(agrees): agrees(theory=lambda x: 2 * x, simulate=g, x=[1, 2], margin=0.2)
@pytest.mark.parametrize("k", range(3))
def test_many(agrees, k): agrees(theory=lambda x: x, simulate=g, x=[1], margin=0.2)
def test_without_it(): pass
'''


def run_suite(folder, *arguments):
    (folder / "test_suite.py").write_text(SUITE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_attica", "-rA", *arguments, "test_suite.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    found = re.findall(r"^(PASSED|FAILED|XFAIL) test_suite.py::(\S+)", done.stdout, re.MULTILINE)
    outcomes = {name: outcome for outcome, name in found}
    table = re.findall(r"^(AGREE|DISAGREE|INCONCLUSIVE) .*?(\d+)/(\d+) +(\d+).*test_suite.py::(\S+)$", done.stdout, re.MULTILINE)
    return done, outcomes, sorted(table)


def test_the_plugin(tmp_path):
    done, outcomes, table = run_suite(tmp_path, "--junitxml=junit.xml")
    many = {f"test_many[{k}]": "PASSED" for k in range(3)}
    expected = {"test_right": "PASSED", "test_wrong": "FAILED", "test_open": "XFAIL", "test_open_then_wrong": "FAILED",
                "test_plain_open": "XFAIL", "test_expected_to_be_wrong": "XFAIL", "test_without_it": "PASSED", **many}
    assert outcomes == expected, done.stdout + done.stderr
    assert "y at x=2: simulation" in done.stdout and "replicates would decide" in done.stdout
    assert [row[0] for row in table].count("INCONCLUSIVE") == 3 and len(table) == 10
    report = (tmp_path / "junit.xml").read_text()
    assert 'name="attica"' in report and 'skipped="3"' in report
    line = json.loads(re.search(r'name="attica" value="([^"]*)"', report)[1].replace("&quot;", '"'))
    assert set(line) == {"verdict", "agree", "points", "replicates", "needed", "resolution", "seconds", "seed"}
    seeds = re.findall(r"&quot;seed&quot;: (\d+)", report)
    assert len(set(seeds)) == 10  # every comparison has random numbers of its own

    strict, outcomes, _ = run_suite(tmp_path, "--attica-strict")
    assert outcomes["test_open"] == outcomes["test_plain_open"] == "FAILED"

    pytest.importorskip("xdist", reason="pytest-xdist is not installed")
    _, outcomes, parallel = run_suite(tmp_path, "-n", "2")
    assert outcomes == expected and parallel == table


def test_options_of_the_plugin(tmp_path):
    (tmp_path / "test_budget.py").write_text(
        "def g(x, rng): return x + rng.normal()\n"
        "def test_a(agrees): agrees(theory=lambda x: x, simulate=g, x=[1], margin=1e-5, seconds=30)\n"
    )
    def call(*arguments):
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "pytest_attica", "--junitxml=j.xml", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        return done, json.loads(re.search(r'name="attica" value="([^"]*)"', (tmp_path / "j.xml").read_text())[1].replace("&quot;", '"'))

    done, usual = call("--attica-seconds", "0.1")
    assert "1 xfailed" in done.stdout and usual["seconds"] < 10
    _, other = call("--attica-seconds", "0.1", "--attica-seed", "1")
    _, again = call("--attica-seconds", "0.1")
    assert usual["seed"] == again["seed"] != other["seed"]
    refused = subprocess.run([sys.executable, "-m", "pytest", "-p", "pytest_attica", "--attica-seconds", "-1"], cwd=tmp_path,
                             capture_output=True, text=True, env=os.environ)
    assert refused.returncode == 4 and "attica-seconds" in refused.stderr


@pytest.mark.parametrize("arguments", [[], ["-p", "pytest_attica"]])
def test_the_plugin_of_an_installed_package_may_be_named_again(tmp_path, arguments):
    """The entry point has the module's own name: pytest refuses one module under two."""
    project = (Path(__file__).resolve().parent.parent.parent / "pyproject.toml").read_text()
    entry = re.search(r"\[project\.entry-points\.pytest11\]\n(\w+) = \"(\w+)\"", project)
    installed = tmp_path / "installed" / "attica-0.1.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: attica\nVersion: 0.1\n")
    (installed / "entry_points.txt").write_text(f"[pytest11]\n{entry[1]} = {entry[2]}\n")
    (tmp_path / "test_fixture.py").write_text("def test_a(agrees): pass\n")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments], cwd=tmp_path, capture_output=True,
                          text=True, env={**os.environ, "PYTHONPATH": f"{installed.parent}:{os.environ.get('PYTHONPATH', '')}"})
    assert done.returncode == 0 and "1 passed" in done.stdout, done.stdout + done.stderr
