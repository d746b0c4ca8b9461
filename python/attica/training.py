"""The training theory of a model of the user's own, and the training of the same model."""

from __future__ import annotations

import math
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _attica, values
from .errors import Error, checked_keywords, warn
from .tables import Rows
from .theories import Curve, Series

#: model(theta, weights) -> (losses, gradient)
Model = Callable[[np.ndarray, Optional[np.ndarray]], Any]

_METHODS = ("low_rank", "dense", "pairs")
_REVISITS = ("epoch", "replace", "without")
_OPTIMISERS = ("descent", "heavy_ball", "adam")
_RESERVED = ("loss", "train_loss", "batch_loss")


class TrainingSeries(Series):
    """A predicted quantity along training: a Series with one curve, and arrays over its x (steps or times).

    `value` is the mean over runs, `order_0` its limit of large batches and many samples, `sd` the standard deviation over
    runs. `finite_size` is the tolerance for neglected orders and `numerical_error` that of the computation, both absolute;
    `size` is the sum of the absolute values of the terms of first order.
    """

    def __init__(self, curve: Curve, columns: Mapping[str, np.ndarray]) -> None:
        super().__init__(curve.name, [curve])
        self.value, self.order_0, self.sd = columns["value"], columns["order_0"], columns["sd"]
        self.size, self.finite_size = columns["size"], columns["finite_size"]
        self.numerical_error = columns["numerical_error"]

    @property
    def compared(self) -> np.ndarray:
        """Where the theory makes a prediction that a simulation can be compared with."""
        return self[0].compared


class Training(Mapping[str, TrainingSeries]):
    """Predictions of `attica.training`: "loss" (on the population), "train_loss" with `samples`, "batch_loss" with
    `batch`, and the observables.

    `x` are the steps or times; `undescribed` says from which step on nothing is predicted, and why, and is empty where
    everything is; `sharpness` and `growth` are the largest and minus the smallest eigenvalue of the Hessian (NaN for the
    flow).
    """

    def __init__(
        self,
        x_name: str,
        x: np.ndarray,
        series: Mapping[str, Mapping[str, Sequence[float]]],
        undescribed: Sequence[str],
        sharpness: Sequence[float],
        growth: Sequence[float],
    ) -> None:
        count = len(undescribed)
        self.x_name, self.x = x_name, x[:count]
        self.sharpness, self.growth = np.array(sharpness, dtype=float), np.array(growth, dtype=float)
        self.undescribed = next((reason for reason in undescribed if reason), "")
        if count < len(x) and not self.undescribed:
            self.undescribed = f"from {x_name} {x[count]:g}: the descent on the population is not finite"
        # At the start all runs are equal.
        compared = np.array([not reason for reason in undescribed], dtype=bool) & (self.x > 0)
        self._series = {}
        for name, columns in series.items():
            arrays = {key: np.array(column, dtype=float) for key, column in columns.items()}
            curve = Curve(
                name, {}, x_name, self.x, arrays["value"], arrays["finite_size"], arrays["numerical_error"], compared
            )
            self._series[name] = TrainingSeries(curve, arrays)

    def __getitem__(self, name: str) -> TrainingSeries:
        if name not in self._series:
            raise KeyError(f"no series '{name}'; there are {', '.join(self._series)}")
        return self._series[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._series)

    def __len__(self) -> int:
        return len(self._series)

    def rows(self) -> Rows:
        """A dict a value: series, x, value, order_0, sd, finite_size, numerical_error, compared."""
        return Rows(
            {
                "series": name,
                "x": float(x),
                "value": float(s.value[k]),
                "order_0": float(s.order_0[k]),
                "sd": float(s.sd[k]),
                "finite_size": float(s.finite_size[k]),
                "numerical_error": float(s.numerical_error[k]),
                "compared": bool(s.compared[k]),
            }
            for name, s in self.items()
            for k, x in enumerate(self.x)
        )

    def __repr__(self) -> str:
        text = f"Training theory against {self.x_name} ({len(self.x)} values): {', '.join(self)}"
        return text + (f"; not described {self.undescribed}" if self.undescribed else "")


class _Population(NamedTuple):
    """A model whose answers are checked, at its start."""

    model: Callable[[np.ndarray, Optional[np.ndarray]], "tuple[np.ndarray, Optional[np.ndarray]]"]
    start: np.ndarray
    p: np.ndarray


def _population(model: Model, start: ArrayLike, weights: Optional[ArrayLike]) -> _Population:
    if not callable(model):
        raise Error(f"parameter 'model' = {values.shown(model)}: expected a function model(theta, weights)")
    theta = values.array(start, "parameter 'start'")
    if theta.ndim != 1 or theta.size == 0:
        raise Error(f"parameter 'start' has shape {theta.shape}; expected finite numbers in a vector: use start.ravel()")
    if not np.all(np.isfinite(theta)):
        place = int(np.flatnonzero(~np.isfinite(theta))[0])
        raise Error(f"parameter 'start' has {theta[place]} at place {place}; expected finite numbers")
    samples: Optional[int] = None

    def checked(at: np.ndarray, w: Optional[np.ndarray]) -> "tuple[np.ndarray, Optional[np.ndarray]]":
        answer = model(at, w)
        if isinstance(answer, tuple):
            if len(answer) != 2:
                raise Error(f"model returned {len(answer)} values; expected losses and gradient")
            losses, gradient = answer
        elif w is None:
            losses, gradient = answer, None
        else:
            raise Error("model returned one value; expected losses and gradient: return losses, gradient")
        losses = values.array(losses, "losses of the model")
        if losses.ndim != 1 or losses.size == 0 or (samples is not None and losses.size != samples):
            shape = "(number of samples,)" if samples is None else f"({samples},)"
            raise Error(f"losses of the model have shape {losses.shape}; expected {shape}, one loss a sample")
        if w is None:
            return losses, None
        gradient = values.array(gradient, "gradient of the model")
        if gradient.shape != theta.shape:
            raise Error(f"gradient of the model has shape {gradient.shape}; expected {theta.shape}, as start has")
        return losses, gradient

    samples = len(checked(theta.copy(), None)[0])
    if weights is None:
        p = np.full(samples, 1 / samples)
    else:
        p = values.array(weights, "parameter 'weights'")
        if p.shape != (samples,) or not np.all(p > 0) or not np.all(np.isfinite(p)):
            raise Error(f"parameter 'weights' has shape {p.shape}; expected {samples} positive numbers, one a sample")
        if not math.isclose(p.sum(), 1, rel_tol=1e-6):
            raise Error(f"parameter 'weights' has the sum {p.sum():g}; expected 1: use weights / weights.sum()")
        p = p / p.sum()
    return _Population(checked, theta, p)


class _Plan(NamedTuple):
    """When is looked, and by which updates."""

    x_name: str
    x: np.ndarray
    steps: list[int]
    rates: np.ndarray  # of the updates 0 .. last step
    how: dict[str, Any]


def _times(times: ArrayLike) -> np.ndarray:
    grid = values.array(times, "parameter 'times'")
    if grid.ndim != 1 or grid.size == 0 or not np.all(np.isfinite(grid)) or grid[0] < 0 or np.any(np.diff(grid) <= 0):
        raise Error(f"parameter 'times' = {values.shown(times)}: expected ascending times >= 0")
    return grid


def _plan(
    rate: Any,
    steps: Any,
    times: Any,
    batch: int,
    samples: int,
    revisit: str,
    optimiser: Optional[str],
    momentum: float,
    decay: float,
    decoupled: bool,
    betas: Sequence[float],
    epsilon: float,
    clip_norm: float,
) -> _Plan:
    if rate is None:
        raise Error("parameter 'rate' is missing; expected the learning rate, or a function of the step")
    if (steps is None) == (times is None):
        raise Error("expected either 'steps' or 'times' (learning rate x steps)")
    if times is not None:
        if callable(rate):
            raise Error("parameter 'times' needs a constant rate; expected 'steps' where the rate is a function")
        x_name, x = "time", _times(times)
        eta = values.number(rate, "parameter 'rate'")
        recorded = [round(t / eta) for t in x.tolist()] if eta > 0 else []
        for t, step in zip(x.tolist(), recorded):
            if abs(step * eta - t) > 1e-6 * max(t, eta):
                raise Error(f"parameter 'times': {t:g} is no whole number of steps of {eta:g}; expected multiples of rate")
    else:
        found = values.array(steps, "parameter 'steps'")
        whole = found.ndim == 1 and found.size > 0 and bool(np.all(found == np.round(found)))
        if not whole or found[0] < 0 or np.any(np.diff(found) <= 0):
            raise Error(f"parameter 'steps' = {values.shown(steps)}: expected ascending whole numbers >= 0")
        x_name, x, recorded = "step", found, [int(step) for step in found]
    last = recorded[-1] if recorded else 0
    if callable(rate):
        rates = np.array([values.number(rate(step), f"rate({step})") for step in range(last + 1)])
    else:
        rates = np.full(last + 1, values.number(rate, "parameter 'rate'"))
    if not np.all(np.isfinite(rates) & (rates >= 0)) or (times is not None and rates[0] == 0):
        raise Error(f"parameter 'rate' = {values.shown(rate)}: expected positive numbers")
    momentum = values.number(momentum, "parameter 'momentum'")
    if optimiser is None:
        optimiser = "heavy_ball" if momentum else "descent"
    if len(tuple(betas)) != 2:
        raise Error(f"parameter 'betas' = {values.shown(betas)}: expected two numbers")
    beta1, beta2 = (values.number(b, "parameter 'betas'") for b in betas)
    how = {
        "update": values.one_of(optimiser, "parameter 'optimiser'", _OPTIMISERS),
        "momentum": momentum,
        "decay": values.number(decay, "parameter 'decay'"),
        "decoupled": values.flag(decoupled, "parameter 'decoupled'"),
        "beta1": beta1,
        "beta2": beta2,
        "epsilon": values.number(epsilon, "parameter 'epsilon'"),
        "clip_norm": values.number(clip_norm, "parameter 'clip_norm'"),
        "batch": values.whole(batch, "parameter 'batch'", 0),
        "samples": values.whole(samples, "parameter 'samples'", 0),
        "revisit": values.one_of(revisit, "parameter 'revisit'", _REVISITS),
    }
    if how["momentum"] and optimiser != "heavy_ball":
        raise Error(f"parameter 'momentum' = {momentum:g}: expected 0 with optimiser '{optimiser}'")
    if how["samples"] and how["batch"] > how["samples"]:
        raise Error(f"parameter 'batch' = {batch}: expected at most samples = {samples}")
    return _Plan(x_name, x, recorded, rates, how)


def _observables(observables: "Mapping[str, Callable[[np.ndarray], float]] | None") -> "dict[str, Callable[[np.ndarray], float]]":
    """Named functions of theta whose answers are checked."""
    checked = {}
    for name, f in dict(observables or {}).items():
        name = values.name(name, "parameter 'observables': name")
        if name in _RESERVED:
            raise Error(f"parameter 'observables': '{name}' is a series already; expected another name")
        if not callable(f):
            raise Error(f"parameter 'observables': '{name}' = {values.shown(f)}: expected a function of theta")

        def number(theta: np.ndarray, f: Any = f, name: str = name) -> float:
            found = f(theta)
            if found is None:
                raise Error(f"observable '{name}' gave None; expected a number (does the function return its value?)")
            return values.number(found, f"observable '{name}'")

        checked[name] = number
    return checked


@checked_keywords
def training(
    model: Model,
    *,
    start: ArrayLike,
    weights: Optional[ArrayLike] = None,
    rate: Any = None,
    steps: Optional[ArrayLike] = None,
    times: Optional[ArrayLike] = None,
    batch: int = 0,
    samples: int = 0,
    revisit: str = "epoch",
    optimiser: Optional[str] = None,
    momentum: float = 0.0,
    decay: float = 0.0,
    decoupled: bool = False,
    betas: Sequence[float] = (0.9, 0.999),
    epsilon: float = 1e-8,
    clip_norm: float = 0.0,
    observables: "Mapping[str, Callable[[np.ndarray], float]] | None" = None,
    method: Optional[str] = None,
    rank: int = 40,
    pairs: int = 0,
    hold: int = 1,
    difference: float = 1e-3,
    seed: int = 1,
) -> Training:
    """Mean and standard deviation over training runs of what a model does, from its population.

    >>> def model(theta, weights):          # (theta x - y)^2 / 2 on all samples
    ...     r = theta[0] * x - y
    ...     return r * r / 2, None if weights is None else np.array([weights @ (r * x)])
    >>> theory = attica.training(model, start=[0.0], rate=0.1, batch=8, steps=[1, 10, 100])
    >>> theory["loss"].value, theory["loss"].sd

    model: model(theta, weights) returns the losses of all samples, shape (n,), and the gradient of (weights * losses).sum(),
      shape (P,); weights may be negative. With weights None only the losses are needed. NumPy, PyTorch or JAX.
    start: theta at step 0, shape (P,). weights: probabilities of the samples, shape (n,); None: 1/n each.
    rate, steps: learning rate, a number or a function of the step, and the recorded steps. times: recorded times = rate x
      steps; without `rate`, gradient flow.
    batch: samples in a batch; 0: all. samples: size of the training set, drawn once a run; 0: fresh samples in every step.
      revisit: how batches are taken from a training set: "epoch" (disjoint batches in a new order every epoch), "replace",
      "without" (replacement).
    optimiser: "descent", "heavy_ball" (with `momentum`) or "adam" (betas, epsilon), which needs method="pairs". decay:
      weight decay, added to the gradient, or `decoupled`. clip_norm: longer gradients are shortened to it; 0: none.
    observables: functions of theta by name, each one number.
    method: "low_rank" (default; `rank` axes), "dense" (all axes), or "pairs" (runs on mirrored perturbations of the weights).
      pairs: with 2 or more the tolerance for neglected orders is estimated; without it is a third of the first order.
      hold: steps over which derivatives are held. difference: step of finite differences; 1e-2 for losses with kinks (ReLU).

    docs/training.md derives the theory and says where nothing is predicted: see `undescribed` of the result.
    """
    population = _population(model, start, weights)
    named = _observables(observables)
    if times is not None and rate is None:
        for parameter, given in (("batch", batch), ("samples", samples), ("momentum", momentum), ("optimiser", optimiser)):
            if given:
                raise Error(f"parameter '{parameter}' = {values.shown(given)}: the flow has none; expected 'rate', too")
        grid = _times(times)
        moments = _attica.training_flow(
            *population, grid.tolist(), values.number(decay, "parameter 'decay'"), list(named.values())
        )
        unknown = [math.nan] * len(grid)
        return Training("time", grid, dict(zip(("loss", *named), moments)), [""] * len(grid), unknown, unknown)
    plan = _plan(
        rate, steps, times, batch, samples, revisit, optimiser, momentum, decay, decoupled, betas, epsilon, clip_norm
    )
    how = {
        **plan.how,
        "method": values.one_of("low_rank" if method is None else method, "parameter 'method'", _METHODS),
        "rank": values.whole(rank, "parameter 'rank'", 1),
        "pairs": values.whole(pairs, "parameter 'pairs'", 0, 2**31 - 1),
        "hold": values.whole(hold, "parameter 'hold'", 1),
        "step": values.number(difference, "parameter 'difference'"),
        "seed": values.whole(seed, "parameter 'seed'", 0),
    }
    record = _attica.training(*population, plan.rates.tolist(), plan.steps, how, list(named.values()))
    names = ("loss", "train_loss", "batch_loss", *named)
    left_out = {"train_loss": not samples, "batch_loss": not batch}
    series = {name: m for name, m in zip(names, record["moments"]) if not left_out.get(name)}
    theory = Training(plan.x_name, plan.x, series, record["undescribed"], record["sharpness"], record["growth"])
    if theory.undescribed:
        warn(f"nothing is predicted {theory.undescribed}")
    return theory


class _Batches:
    """Weights of the batches of all runs, counts / B of the samples of the population; shape (runs, n).

    Every run has a stream of uniform numbers of its own: those of its training set, then those of its batches.
    """

    _NUMBERS = 1 << 21  # drawn at a time

    def __init__(self, p: np.ndarray, how: Mapping[str, Any], seed: int, runs: int) -> None:
        self.p, self.batch, self.revisit = p, how["batch"], how["revisit"]
        self.cumulative = np.cumsum(p)
        self.cumulative[-1] = 1.0
        self.streams = [
            np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(run,)))) for run in range(runs)
        ]
        self.drawn = np.empty((runs, 0, 0))
        self.data = self._samples(self._uniform(how["samples"], 1)) if how["samples"] else None
        self.training_set = np.tile(p, (runs, 1)) if self.data is None else self._weights(self.data)
        self.order = np.empty((runs, 0), dtype=int)

    def _uniform(self, count: int, ahead: int) -> np.ndarray:
        """The next `count` numbers of every run."""
        if self.drawn.shape[1] == 0:
            steps = max(1, min(ahead, self._NUMBERS // (len(self.streams) * count)))
            self.drawn = np.stack([stream.random((steps, count)) for stream in self.streams])
        found, self.drawn = self.drawn[:, 0], self.drawn[:, 1:]
        return found

    def _samples(self, uniform: np.ndarray) -> np.ndarray:
        return np.searchsorted(self.cumulative, uniform, side="right")

    def _weights(self, samples: np.ndarray) -> np.ndarray:
        runs, n = len(samples), len(self.p)
        places = samples + n * np.arange(runs)[:, None]
        return np.bincount(places.ravel(), minlength=runs * n).reshape(runs, n) / samples.shape[1]

    def next(self) -> np.ndarray:
        ahead = 64  # steps
        if not self.batch:
            return self.training_set
        if self.data is None:
            return self._weights(self._samples(self._uniform(self.batch, ahead)))
        size = self.data.shape[1]
        if self.revisit == "replace":
            places = (self._uniform(self.batch, ahead) * size).astype(int)
        elif self.revisit == "without":
            places = np.argpartition(self._uniform(size, ahead), self.batch - 1, axis=1)[:, : self.batch]
        else:
            if self.order.shape[1] < self.batch:
                self.order = np.argsort(self._uniform(size, 1), axis=1)
            places, self.order = self.order[:, : self.batch], self.order[:, self.batch :]
        return self._weights(np.take_along_axis(self.data, places, axis=1))


def _updated(theta: np.ndarray, gradient: np.ndarray, memory: dict[str, Any], rate: float, how: Mapping[str, Any]) -> np.ndarray:
    """One update of all runs; theta and gradient have the shape (runs, P)."""
    if how["clip_norm"]:
        length = np.linalg.norm(gradient, axis=1, keepdims=True)
        gradient = gradient * np.minimum(1, how["clip_norm"] / np.maximum(length, 1e-300))
    if how["decay"] and not how["decoupled"]:
        gradient = gradient + how["decay"] * theta
    kept = theta * (1 - rate * how["decay"]) if how["decoupled"] else theta
    if how["update"] == "descent":
        return kept - rate * gradient
    if how["update"] == "heavy_ball":
        memory["v"] = how["momentum"] * memory.get("v", 0.0) + gradient
        return kept - rate * memory["v"]
    memory["t"] = memory.get("t", 0) + 1
    memory["m"] = how["beta1"] * memory.get("m", 0.0) + (1 - how["beta1"]) * gradient
    memory["s"] = how["beta2"] * memory.get("s", 0.0) + (1 - how["beta2"]) * gradient**2
    mean = memory["m"] / (1 - how["beta1"] ** memory["t"])
    square = memory["s"] / (1 - how["beta2"] ** memory["t"])
    return kept - rate * mean / (np.sqrt(square) + how["epsilon"])


@checked_keywords
def simulate_training(
    model: Model,
    *,
    start: ArrayLike,
    weights: Optional[ArrayLike] = None,
    rate: Any = None,
    steps: Optional[ArrayLike] = None,
    times: Optional[ArrayLike] = None,
    batch: int = 0,
    samples: int = 0,
    revisit: str = "epoch",
    optimiser: Optional[str] = None,
    momentum: float = 0.0,
    decay: float = 0.0,
    decoupled: bool = False,
    betas: Sequence[float] = (0.9, 0.999),
    epsilon: float = 1e-8,
    clip_norm: float = 0.0,
    observables: "Mapping[str, Callable[[np.ndarray], float]] | None" = None,
    replicates: int = 100,
    seed: int = 1,
    vectorised: bool = False,
) -> Any:
    """Trains the model `replicates` times from the same start, with the arguments of `attica.training`.

    Returns a data frame with the columns series, x, replicate and value, which `attica.judge(theory=attica.training(...),
    simulate=...)` takes: "loss" on the population, "train_loss" with `samples`, and the observables. It is a
    pandas.DataFrame, or Rows where pandas is not installed. Random numbers depend on seed and replicate alone: more
    replicates keep the first ones. A run whose theta is no longer finite has NaN, a replicate that failed.

    vectorised: the model takes all runs at once: theta of shape (runs, P) and weights of shape (runs, n), and returns
      losses of shape (runs, n) and gradients of shape (runs, P).
    """
    replicates = values.whole(replicates, "parameter 'replicates'", 1)
    seed = values.whole(seed, "parameter 'seed'", 0)
    vectorised = values.flag(vectorised, "parameter 'vectorised'")
    plan = _plan(
        rate, steps, times, batch, samples, revisit, optimiser, momentum, decay, decoupled, betas, epsilon, clip_norm
    )
    named = _observables(observables)
    one = (lambda theta, w: _only(model(theta[None], None if w is None else w[None]))) if vectorised else model
    population = _population(one, start, weights)
    batches = _Batches(population.p, plan.how, seed, replicates)
    p = population.p

    def passes(theta: np.ndarray, w: np.ndarray) -> "tuple[np.ndarray, np.ndarray]":
        if vectorised:
            losses, gradient = model(theta, w)
            losses, gradient = values.array(losses, "losses of the model"), values.array(gradient, "gradient of the model")
            if losses.shape != w.shape or gradient.shape != theta.shape:
                raise Error(
                    f"the model returned shapes {losses.shape} and {gradient.shape}; expected {w.shape} and {theta.shape}"
                )
            return losses, gradient
        pairs = [population.model(at, one) for at, one in zip(theta, w)]
        return np.stack([losses for losses, _ in pairs]), np.stack([gradient for _, gradient in pairs])

    theta = np.tile(population.start, (replicates, 1))
    memory: dict[str, Any] = {}
    rows = Rows()
    recorded = dict(zip(plan.steps, plan.x.tolist()))
    with np.errstate(all="ignore"):  # runs may diverge: that is an outcome
        for step in range(plan.steps[-1] + 1):
            w = batches.next()
            losses, gradient = passes(theta, w)
            if step in recorded:
                # Not by a product of matrices, whose rounding depends on the number of replicates.
                found = {"loss": (losses * p).sum(axis=1)}
                if samples:
                    found["train_loss"] = (losses * batches.training_set).sum(axis=1)
                for name, f in named.items():
                    found[name] = np.array([f(at) for at in theta])
                for name, column in found.items():
                    rows += [
                        {"series": name, "x": recorded[step], "replicate": replicate, "value": float(value)}
                        for replicate, value in enumerate(np.where(np.isfinite(column), column, np.nan))
                    ]
            if step < plan.steps[-1]:
                theta = _updated(theta, gradient, memory, plan.rates[step], plan.how)
    try:
        return rows.to_pandas()
    except ImportError:
        return rows


def _only(answer: Any) -> Any:
    """Of the answer of a vectorised model, that of its only run."""
    if isinstance(answer, tuple):
        return tuple(None if part is None else values.array(part, "answer of the model")[0] for part in answer)
    return values.array(answer, "losses of the model")[0]
