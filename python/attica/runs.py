"""Runs: theory, simulation, verdict and figure in a folder."""

from __future__ import annotations

import html
import json
import os
import warnings
from pathlib import Path
from typing import Any, Mapping, Optional

from . import records
from .configuration import Keys
from .display import Figure
from .errors import Error
from .judgement import Judgement
from .program import Finished, call
from .tables import Rows

#: What a finished run may end with: AGREE and the like, DISAGREE, INCONCLUSIVE.
_VERDICTS = (0, 1, 3)


class Run(Judgement):
    """A finished run. Everything is read from its folder; the files are described in docs/files.md."""

    def __init__(self, folder: "str | os.PathLike[str]", record: Optional[Mapping[str, Any]] = None) -> None:
        self.folder = Path(folder)
        if record is None:
            if not (self.folder / "run.json").exists():
                raise Error(f"'{folder}' is not a run folder")
            if not (self.folder / "check.json").exists():
                raise Error(f"run '{folder}' is not finished: run it again to carry on", 5)
            record = json.loads((self.folder / "check.json").read_text(encoding="utf-8"))
        super().__init__(record)

    @property
    def study(self) -> str:
        return self.record["study"]

    @property
    def results(self) -> Rows:
        """Theory and simulation: study, series, kind ("theory" or "sim"), the point's coordinates, x_name, x, mean, sem,
        sd, n. `sem` is the standard error of the mean over n replicates; None where there is none."""
        return Rows(records.results(self.folder))

    @property
    def replicates(self) -> Rows:
        """Every replicate: study, series, the point's coordinates, x_name, x, replicate (from 0), value."""
        return Rows(records.replicates(self.folder))

    def fit(self) -> Rows:
        """Measured scaling exponents with intervals against those that the study predicts or bounds: name, series,
        exponent, fitted, verdict and more, as `attica fit --json`."""
        return Rows(self._program("fit", str(self.folder), "--json")["exponents"])

    def figure(self, format: str = "svg", style: Optional[str] = None, width: Optional[str] = None) -> Figure:
        """The run's figure: "svg", "pdf", "png" or "tex" (TikZ). With a style ("aps", "neurips", "icml", "jmlr", "slides") or a width
        ("half", "full") it is drawn anew from the records, into the run's folder."""
        if format not in ("svg", "pdf", "png", "tex"):
            raise Error(f"parameter 'format' = {format}: expected svg, pdf, png or tex")
        paths = sorted((self.folder / "plots").glob(f"*.{format}"))
        if style or width or not paths:
            arguments = ["plot", str(self.folder), "--format", format]
            arguments += ["--style", style] if style else []
            arguments += ["--width", width] if width else []
            end = call(arguments)
            if end.code != 0:
                raise end.error()
            paths = [Path(line) for line in end.output.splitlines() if line.endswith("." + format)]
        return Figure(paths[0].read_bytes(), format, paths[0])

    def report(self) -> Path:
        """The path of report.html: figure, verdict, configuration and provenance on one offline page."""
        path = self.folder / "report.html"
        if not path.exists():
            end = call(["report", str(self.folder)])
            if end.code != 0:
                raise end.error()
        return path

    def _program(self, *arguments: str) -> Any:
        end = call(arguments)
        if end.code not in _VERDICTS or not end.output:
            raise end.error()
        return json.loads(end.output)

    def _repr_html_(self) -> str:
        try:
            figure = self.figure()._repr_html_()
        except Error as error:  # no gnuplot, say: the verdict stands without
            figure = f"<p>{html.escape(str(error))}</p>"
        return super()._repr_html_() + figure + f"<p><code>{html.escape(str(self.folder))}</code></p>"


def finished_run(end: Finished) -> Run:
    """The run that `attica run --json` or `judge --json` has just finished, or its error."""
    for warning in end.warnings:
        warnings.warn(warning, stacklevel=3)
    record = json.loads(end.output) if end.output.strip() else None
    if end.code in _VERDICTS and record:
        return Run(record["run"], record)
    raise end.error(record["run"] if record else None)


def run(
    study: "str | os.PathLike[str]",
    *,
    preset: str = "",
    out: "str | os.PathLike[str]" = "runs",
    name: str = "",
    threads: Optional[int] = None,
    until_decided: bool = False,
    max_time: "str | float | None" = None,
    resume: bool = True,
    force: bool = False,
    progress: Optional[bool] = None,
    **values: Any,
) -> Run:
    """Theory, simulation, verdict, figure and report of a study or a TOML configuration, in a folder `out/name-hash`.

    >>> r = attica.run("gauss-double-descent", rho=0.9, seed=7, margin=0.02, threads=2)
    >>> str(r.verdict), r.coarsest_resolution

    Parameters are given as for `attica.theory`; among them `seed`, `replicates` and `margin` (relative). The numbers are
    a function of these alone: not of `threads`, nor of interruptions. A run that is already there is opened, or carried
    on (`resume=False` refuses it, `force=True` starts anew). Ctrl-C stops at a checkpoint. `progress`: True or False; by
    default a bar is shown where somebody looks. Errors raise attica.Error with the program's sentence and exit code.
    """
    target = os.fspath(study)
    arguments = ["run", target, "--json", "--out", os.fspath(out)]
    for _, assignment in Keys(target).assignments(values):
        arguments += ["--set", assignment]
    for flag, value in (("--preset", preset), ("--name", name), ("--threads", threads), ("--max-time", max_time)):
        if value not in (None, ""):
            arguments += [flag, str(value)]
    arguments += ["--until-decided"] if until_decided else []
    arguments += ["--force"] if force else ["--resume"] if resume else []
    return finished_run(call(arguments, progress))


def open_run(folder: "str | os.PathLike[str]", out: "str | os.PathLike[str]" = "runs") -> Run:
    """A finished run: by its folder, or the newest of this name below `out`."""
    if (Path(folder) / "run.json").exists():
        return Run(folder)
    try:
        return Run(records.find(os.fspath(folder), os.fspath(out)))
    except FileNotFoundError as error:
        raise Error(str(error)) from None
