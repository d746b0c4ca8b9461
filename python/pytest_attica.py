"""The pytest plugin of attica: the fixture `agrees`, the options --attica-..., and a table of all comparisons in the end.

    def test_ridge(agrees):
        agrees(theory=f, simulate=g, x=[1, 2, 4], margin=0.05)

It is loaded where attica is installed (`-p pytest_attica` from a build folder), and imports attica at the first comparison.
"""

import hashlib
import json
import math

import pytest

_current = None  # the test that runs in this process


class _Comparisons:
    """What a test has compared so far."""

    def __init__(self, item):
        self.item = item
        self.count = 0
        self.by_fixture = False
        self.open = []  # messages of comparisons without a verdict


_key = pytest.StashKey[_Comparisons]()


def _seconds(text):
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(f"{text}: expected seconds > 0")
    return value


def pytest_addoption(parser):
    group = parser.getgroup("attica", "attica: theories and simulations that agree within a margin")
    group.addoption("--attica-seconds", type=_seconds, metavar="S",
                    help="time of every comparison, whatever the tests say (default: what they say, else 10)")
    group.addoption("--attica-seed", type=int, default=0, metavar="N",
                    help="other random numbers than the usual ones, which follow from the name of the test (default 0)")
    group.addoption("--attica-strict", action="store_true", help="a comparison without a verdict fails (default: xfail)")
    parser.addini("attica_seconds", "time of a comparison for tests that do not say otherwise", default="10")


def _stable(name, seed):
    """A seed from the name of a comparison: the same on every machine and in every worker."""
    return int.from_bytes(hashlib.sha256(f"{seed} {name}".encode("utf-8", "surrogatepass")).digest()[:6], "big")


def defaults():
    """For attica.testing: seed and seconds of the next comparison of the running test; nothing outside of tests."""
    if _current is None:
        return {}
    config, place = _current.item.config, _current.item.nodeid
    _current.count += 1
    return {
        "seed": _stable(f"{place} {_current.count}", config.getoption("--attica-seed")),
        "seconds": _seconds(config.getini("attica_seconds")),
        "seconds_forced": config.getoption("--attica-seconds"),
    }


def keep(judgement, seconds):
    """For attica.testing: a line of the table in the end. Properties of a report go through xdist and into JUnit files."""
    if _current is None:
        return
    record = judgement.record
    from attica.testing import replicates_needed

    line = {
        "verdict": str(judgement.verdict),
        "agree": record["counts"]["agree"],
        "points": record["counts"]["compared"],
        "replicates": max((point["n"] for point in record["points"]), default=0),
        "needed": replicates_needed(judgement),
        "resolution": judgement.coarsest_resolution if judgement.verdict == "AGREE" else None,
        "seconds": round(seconds, 3),
        "seed": record.get("sequential", {}).get("seed"),
    }
    _current.item.user_properties.append(("attica", json.dumps(line)))


def waits(message):
    """For attica.testing: whether a comparison without a verdict lets its test go on, which is an xfail in the end."""
    if _current is None or not _current.by_fixture or _current.item.config.getoption("--attica-strict"):
        return False
    _current.open.append(message)
    return True


@pytest.fixture
def agrees(request):
    """attica.testing.assert_agrees. Without a verdict the test goes on, so that later comparisons count; it is an xfail."""
    from attica.testing import assert_agrees

    def compare(**arguments):
        __tracebackhide__ = True
        if _current is None:
            return assert_agrees(**arguments)
        _current.by_fixture = True
        try:
            return assert_agrees(**arguments)
        finally:
            _current.by_fixture = False

    return compare


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    global _current
    _current = item.stash[_key] = _Comparisons(item)
    try:
        yield
    finally:
        _current = None


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    comparisons = item.stash.get(_key, None)
    if call.when != "call" or comparisons is None:
        return
    report = outcome.get_result()
    error = call.excinfo.value if call.excinfo else None
    without_verdict = [*comparisons.open]
    if type(error).__module__ == "attica.testing" and type(error).__name__ == "Inconclusive":
        without_verdict.append(str(error))
    elif not report.passed:
        return
    if without_verdict and not item.config.getoption("--attica-strict"):
        report.outcome, report.wasxfail = "skipped", "reason: " + "\n".join(without_verdict)
        report.longrepr = report.longrepr if error else report.wasxfail


def _percent(value):
    return "" if value is None else f"{100 * value:.2g} %"


def pytest_terminal_summary(terminalreporter):
    lines = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) != "call":
                continue
            for name, text in getattr(report, "user_properties", ()):
                if name == "attica":
                    lines.append((report.nodeid, json.loads(text)))
    if not lines:
        return
    order = {"DISAGREE": 0, "INCONCLUSIVE": 1}
    lines.sort(key=lambda line: (order.get(line[1]["verdict"], 2), line[0]))
    terminalreporter.section("attica")
    terminalreporter.write_line(f"{'verdict':<13}{'points':>8}{'replicates':>12}{'needed':>10}{'resolution':>12}{'seconds':>9}  test")
    for place, line in lines:
        terminalreporter.write_line(
            f"{line['verdict']:<13}{str(line['agree']) + '/' + str(line['points']):>8}{line['replicates']:>12}"
            f"{line['needed'] or '':>10}{_percent(line['resolution']):>12}{line['seconds']:>9.1f}  {place}"
        )
