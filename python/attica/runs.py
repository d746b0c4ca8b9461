"""Runs: theory, simulation, verdict and figure in a folder."""

from __future__ import annotations

import html
import json
import os
from pathlib import Path
from typing import Any, Iterator, Mapping, Optional, Sequence

import numpy as np

from . import records, values
from .configuration import Keys
from .display import FORMATS, Figure, bundle
from .errors import Error, checked_keywords
from .judgement import Judgement
from .program import Finished, call
from .tables import Rows
from .theories import Theory

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
                raise Error(f"run '{folder}' is not finished: run it again to continue it", 5)
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

    @property
    def parameters(self) -> dict[str, Any]:
        """All resolved values by dotted key, as in config.resolved.toml."""
        import tomllib

        content = tomllib.loads((self.folder / "config.resolved.toml").read_text(encoding="utf-8"))
        return dict(_flat(content))

    @property
    def provenance(self) -> dict[str, Any]:
        """Program, compiler, libraries, machine, command line and hashes of input files."""
        return records.record(self.folder, "provenance")

    @property
    def theory(self) -> Theory:
        """The predictions that this run was judged by, with their tolerances; of a perturbed run the perturbed ones."""
        record = records.record(self.folder, "theory")
        series = []
        for one in record["predictions"]:
            x = np.array(one["x"], dtype=float)
            tolerances = {
                name: np.broadcast_to(np.array(one.get(name) or 0.0, dtype=float), x.shape)
                for name in ("finite_size", "numerical_error")
            }
            compared = np.broadcast_to(np.array(one.get("compared", True), dtype=bool), x.shape)
            series.append({**one, "x": x, "y": np.array(one["y"], dtype=float), **tolerances, "compared": compared})
        whole = {"study": self.study, "parameters": self.parameters, "diagnostics": record["diagnostics"], "series": series}
        return Theory(whole, (str(self.folder / "config.resolved.toml"), "", []))

    def plot(self, series: "str | Sequence[str] | None" = None, ax: Any = None, **keywords: Any) -> Any:
        """Theory (lines) and simulation (points, error bars of one standard error) in axes of Matplotlib.

        >>> run.plot(series="test_error", ax=ax)

        series: one name or several; all by default, each in axes of its own below the last. ax: axes, or one for each series.
        Colours, markers and dashes are those of attica's figures, and go on where the axes have curves of another run; keywords
        of Axes.plot override them. Returns the axes.
        """
        from . import plotting

        return plotting.plot(self, series, ax, **keywords)

    def residuals(self, series: "str | Sequence[str] | None" = None, ax: Any = None, **keywords: Any) -> Any:
        """Simulation - theory in per cent of the theory, with the widest and the narrowest margin as bands, in axes of
        Matplotlib; arguments as for `plot`."""
        from . import plotting

        return plotting.residuals(self, series, ax, **keywords)

    def to_xarray(self) -> Any:
        """An xarray.Dataset: every series with dimensions replicate, the point's coordinates and x by its name, and its
        theory as NAME_theory over an x of its own (`alpha_theory`), as finely as it is drawn."""
        from . import plotting

        return plotting.to_xarray(self)

    def to_inference_data(self) -> Any:
        """An arviz.InferenceData: replicates as draws of one chain in `posterior_predictive`, theory in `constant_data`."""
        from . import plotting

        return plotting.to_inference_data(self)

    def fit(self) -> Rows:
        """Measured scaling exponents with intervals against those that the study predicts or bounds: name, series,
        exponent, fitted, verdict and more, as `attica fit --json`."""
        return Rows(self._program("fit", str(self.folder), "--json")["exponents"])

    def figure(self, format: str = "svg", style: Optional[str] = None, width: Optional[str] = None) -> Figure:
        """The run's figure: "svg", "pdf", "png" or "tex" (TikZ). With a style ("aps", "neurips", "icml", "jmlr", "slides") or a width
        ("half", "full") it is drawn again from the records, into the run's folder."""
        values.one_of(format, "parameter 'format'", FORMATS)
        paths = sorted((self.folder / "plots").glob(f"*.{format}"))
        if style or width or not paths:
            arguments = ["plot", str(self.folder), "--format", format]
            arguments += ["--style", values.text(style, "parameter 'style'")] if style else []
            arguments += ["--width", values.text(width, "parameter 'width'")] if width else []
            end = call(arguments)
            if end.code != 0:
                raise end.error()
            end.warn()
            paths = [Path(line) for line in end.output.splitlines() if line.endswith("." + format)]
        return Figure(paths[0].read_bytes(), format, paths[0], lambda other: self.figure(other, style, width).data)

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
        end.warn()
        return json.loads(end.output)

    def _shown_figure(self) -> "tuple[Optional[Figure], str]":
        """The figure, or None and the reason."""
        try:
            return self.figure(), ""
        except Error as error:  # no gnuplot, say: the verdict stands without
            return None, str(error)

    def _page(self, figure: Optional[Figure], reason: str) -> str:
        shown = figure._repr_html_() if figure else f"<p>{html.escape(reason)}</p>"
        return super()._repr_html_() + shown + f"<p><code>{html.escape(str(self.folder))}</code></p>"

    def _repr_html_(self) -> str:
        return self._page(*self._shown_figure())

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        figure, reason = self._shown_figure()
        return bundle(figure, self._page(figure, reason), repr(self))


def _flat(content: Mapping[str, Any], head: str = "") -> "Iterator[tuple[str, Any]]":
    for key, value in content.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{head}{key}.")
        else:
            yield head + key, value


def finished_run(end: Finished, failed: bool = False) -> Run:
    """The run that `attica run --json` or `judge --json` has just finished, or its error.

    failed: replicates may have failed; the verdict counts them, and says of which points they were.
    """
    end.warn()
    record = json.loads(end.output) if end.output.strip() else None
    if record and (end.code in _VERDICTS or (failed and end.code == 4)):
        return Run(record["run"], record)
    raise end.error(record["run"] if record else None)


#: What `run` takes besides parameters.
_ARGUMENTS = ("preset", "out", "name", "threads", "until_decided", "max_time", "resume", "force", "progress")


@checked_keywords
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
    **keywords: Any,
) -> Run:
    """Theory, simulation, verdict, figure and report of a study or a TOML configuration, in a folder `out/name-hash`.

    >>> r = attica.run("gauss-double-descent", rho=0.9, seed=7, margin=0.02, threads=2)
    >>> str(r.verdict), r.coarsest_resolution

    Parameters are given as for `attica.theory`; among them `seed`, `replicates` and `margin` (relative). The numbers are
    a function of these alone: not of `threads`, nor of interruptions. A run that is already there is opened, or carried
    on (`resume=False` refuses it, `force=True` starts again). Ctrl-C stops at a checkpoint. `progress`: True or False; by
    default a bar is shown where somebody looks. Errors raise attica.Error with the program's sentence and exit code.
    """
    target = values.path(study, "parameter 'study'")
    arguments = ["run", target, "--json", "--out", values.path(out, "parameter 'out'")]
    for _, assignment in Keys(target, _ARGUMENTS).assignments(keywords):
        arguments += ["--set", assignment]
    for flag, value in (("--preset", preset), ("--name", name), ("--threads", threads), ("--max-time", max_time)):
        if value is not None and value != "":
            arguments += [flag, values.text(str(value), f"parameter '{flag.strip('-').replace('-', '_')}'")]
    arguments += ["--until-decided"] if until_decided else []
    arguments += ["--force"] if force else ["--resume"] if resume else []
    return finished_run(call(arguments, progress))


@checked_keywords
def open_run(folder: "str | os.PathLike[str]", out: "str | os.PathLike[str]" = "runs") -> Run:
    """A finished run: by its folder, or the newest of this name below `out`."""
    name, below = values.path(folder, "parameter 'folder'"), values.path(out, "parameter 'out'")
    if (Path(name) / "run.json").exists():
        return Run(name)
    try:
        return Run(records.find(name, below))
    except FileNotFoundError as error:
        raise Error(str(error)) from None
