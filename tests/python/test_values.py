"""What users bring: every kind of array and number is read right or refused by name; no hostile object gets further."""

import datetime
import decimal
import fractions
import math
import re

import attica
import numpy as np
import pytest
from attica import values

X = [1.0, 2.0, 3.0]
NOISE = np.random.default_rng(1).normal(size=30)
RIGHT = np.outer(X, np.ones(20)) * (1 + 0.001 * np.random.default_rng(0).normal(size=(3, 20)))


class Tensor:
    """As PyTorch's: neither NumPy nor float() may touch one with a gradient, on a device, or in bfloat16."""

    def __init__(self, array, device="cuda", grad=True, doubled=False):
        self.array, self.device, self.grad, self.doubled = np.asarray(array), device, grad, doubled
        self.shape, self.dtype = self.array.shape, "torch.bfloat16"

    def detach(self):
        return Tensor(self.array, self.device, False, self.doubled)

    def cpu(self):
        return Tensor(self.array, "cpu", self.grad, self.doubled)

    def is_complex(self):
        return self.array.dtype.kind == "c"

    def double(self):
        return Tensor(self.array.astype(float), self.device, self.grad, True)

    def numpy(self):
        if self.grad or self.device != "cpu" or not self.doubled:
            raise RuntimeError("Can't call numpy() on this Tensor")
        return self.array

    def __array__(self, dtype=None):
        raise RuntimeError("Can't convert this Tensor to NumPy")

    def __float__(self):
        raise RuntimeError("not on the CPU")

    def __iter__(self):
        return (Tensor(row, self.device, self.grad) for row in self.array)


def read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


def generator(rows):
    yield from rows


@pytest.mark.parametrize(
    "form",
    [
        np.asarray,
        lambda a: a.tolist(),
        lambda a: tuple(map(tuple, a)),
        lambda a: list(a),
        lambda a: generator(a),
        lambda a: generator(generator(row) for row in a),
        lambda a: a.astype(np.float32),
        lambda a: a.astype(">f8"),
        lambda a: a.astype(np.longdouble),
        lambda a: a.astype(object),
        lambda a: np.asfortranarray(a),
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: read_only(a),
        lambda a: memoryview(np.ascontiguousarray(a)),
        lambda a: np.ma.array(a),
        lambda a: np.asmatrix(a),
        lambda a: np.ma.array(np.asmatrix(a)),
        lambda a: [Tensor(row) for row in a],
        lambda a: Tensor(a),
        lambda a: [[fractions.Fraction(v) for v in row] for row in a],
        lambda a: [[decimal.Decimal(v) for v in row] for row in a],
        lambda a: [[np.array(v) for v in row] for row in a],
        lambda a: [[repr(float(v)) for v in row] for row in a],
        lambda a: __import__("pandas").DataFrame(a).to_numpy(),
        lambda a: [__import__("pandas").Series(row) for row in a],
        lambda a: [__import__("pandas").Series(row, dtype="Float64") for row in a],
        lambda a: __import__("xarray").DataArray(a),
    ],
)
def test_forms_of_an_array_are_one(form):
    given = RIGHT.astype(np.float32).astype(float)
    expected = attica.judge(theory=X, simulate=given, x=X, margin=0.01, out=None)
    assert expected.verdict == "AGREE"
    assert attica.judge(theory=X, simulate=form(given), x=X, margin=0.01, out=None).record == expected.record
    assert attica.agreement(X, form(given), 0.01).points.column("mean").tolist() == expected.points.column("mean").tolist()
    assert values.array(form(np.array([X])), "x")[0].tolist() == X


@pytest.mark.parametrize("dtype", ["f2", "f4", "u1", "i8", "u8", "?"])
def test_small_types_keep_their_values(dtype):
    exact = np.array([[0, 1, 1, 0], [1, 1, 0, 1]]).astype(dtype)
    judged = attica.agreement([0.5, 0.75], exact, 0.5)
    assert judged.points.column("mean").tolist() == [0.5, 0.75]
    many = np.full((1, 300), 255, dtype="u1")  # no sum in eight bits
    assert attica.agreement([255], many, 0.1).points[0]["mean"] == 255


MISSING = [math.nan, None, np.ma.masked, np.float32("nan"), decimal.Decimal("nan"), np.ma.array(1.0, mask=True)]


@pytest.mark.parametrize("missing", MISSING + ["pandas.NA", "pandas.NaT"], ids=repr)
def test_what_is_missing_is_a_failed_replicate(missing):
    pandas = pytest.importorskip("pandas")
    missing = getattr(pandas, missing[7:]) if isinstance(missing, str) else missing
    rows = RIGHT.tolist()
    rows[1][4] = missing
    calls = []

    def simulate(x, rng):
        calls.append(x)
        return missing if len(calls) == 14 else x * (1 + 0.001 * rng.normal())

    frame = [{"x": x, "replicate": r, "value": rows[k][r]} for k, x in enumerate(X) for r in range(20)]
    given = [rows, frame, pandas.DataFrame(frame), attica.Rows(frame)] + ([simulate] if missing is not None else [])
    for simulated in given:
        judged = attica.judge(theory=lambda x: x, simulate=simulated, x=X, margin=0.01, replicates=20, out=None)
        assert [p["n"] for p in judged.points] == [20, 19, 20] and judged.record["counts"]["failed"] == 1
        assert [p["verdict"] for p in judged.points] == ["AGREE", "INCONCLUSIVE", "AGREE"]
        assert "1 of 20 replicates failed" in repr(judged)
        with pytest.raises(attica.Error, match="INCONCLUSIVE"):
            assert judged
    assert attica.agreement(X, rows, 0.01).record["counts"]["failed"] == 1
    for wrong in ({"theory": [1, missing, 3]}, {"x": [1, missing, 3]}):
        with pytest.raises(attica.Error, match="theory of 'y' is nan|parameter 'x'"):
            attica.judge(**{"theory": X, "simulate": RIGHT, "x": X, "margin": 0.01, "out": None, **wrong})


def test_a_function_that_forgets_to_return_is_refused():
    with pytest.raises(attica.Error, match="gave None; expected a number .does the function return its value"):
        attica.judge(theory=lambda x: x, simulate=lambda x, rng: None, x=X, margin=0.1, out=None)
    with pytest.raises(attica.Error, match=r"theory\(1.0\) gave None"):
        attica.judge(theory=lambda x: None, simulate=RIGHT, x=X, margin=0.1, out=None)


class Hostile:
    """Answers every question with an error of its own."""

    def __float__(self):
        raise RuntimeError("no float")

    def __array__(self, dtype=None):
        raise RuntimeError("no array")

    def __repr__(self):
        raise RuntimeError("no repr")

    def __fspath__(self):
        raise RuntimeError("no path")

    def __len__(self):
        return -1

    def __bool__(self):
        raise RuntimeError("no truth")


class Silent:
    def __getattr__(self, name):
        raise RuntimeError(f"no {name}")


NOT_NUMBERS = [
    1j, np.complex64(1), np.array([1j]), "one", "1_000", "0x10", b"1", bytearray(b"1"), object(), {1.0}, {"a": 1}, [], [[]],
    np.array("text"), np.array(b"bytes"), np.datetime64("2024-01-01"), np.timedelta64(3, "s"), datetime.date(2024, 1, 1),
    datetime.timedelta(1), np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])[0], Hostile(), Silent(), int, len, "\udc80",
    "a\0b", 10**400, [[1], [1, 2]], Tensor([1j, 2]), NotImplemented, Ellipsis, range(0), slice(3), np.array([1, 2]),
]  # fmt: skip

BINDING = re.compile("cast|pybind|incompatible function|C\\+\\+|argument types")


def refused(call, *exceptions):
    """The call works, or raises attica.Error (or what Python itself raises); the message is none of the binding."""
    try:
        call()
    except (attica.Error, *exceptions) as error:
        sentence = str(error)
        assert sentence and not BINDING.search(sentence), sentence
        assert "\n" not in sentence.strip() or len(sentence) < 2000
        sentence.encode("utf-8")


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=lambda v: type(v).__name__)
@pytest.mark.filterwarnings("ignore")
def test_no_hostile_value_gets_further(value):
    sigma = attica.ar1_covariance(4, 0.5)
    good = {"theory": X, "simulate": RIGHT, "x": X, "margin": 0.01, "out": None}
    for name in (*good, "absolute", "replicates", "seed", "until_decided", "tails", "series", "known", "name", "progress"):
        if name != "out" and not (callable(value) and name in ("simulate", "theory")):
            refused(lambda: attica.judge(**{**good, name: value}))
    refused(lambda: attica.judge(**{**good, "theory": lambda x: value}))
    refused(lambda: attica.judge(**{**good, "theory": {"a": value}}))
    refused(lambda: attica.judge(**{**good, "theory": {"x": X, "value": [1, value, 3]}, "simulate": RIGHT}))
    refused(lambda: attica.judge(**{**good, "theory": lambda x: x, "simulate": lambda x, rng: value, "replicates": 2}))
    refused(lambda: attica.judge(**{**good, "theory": {"a": X}, "simulate": {value if hasattr_hash(value) else "b": RIGHT}}))
    rows = [{"x": 1.0, "replicate": r, "value": 1.0, "where": "a"} for r in range(3)]
    for column in rows[0]:
        changed = [dict(rows[0], **{column: value}), *rows[1:]]
        theory = [{"x": 1.0, "value": 1.0, "where": "a"}]
        refused(lambda: attica.judge(theory=theory, simulate=changed, margin=0.1, out=None))
        if column in theory[0]:
            refused(lambda: attica.judge(theory=[dict(theory[0], **{column: value})], simulate=rows, margin=0.1, out=None))
    for arguments in ((value, RIGHT, 0.1), (X, value, 0.1), (X, RIGHT, value)):
        refused(lambda: attica.agreement(*arguments))
    for name in ("absolute", "finite_size", "numerical_error", "tails"):
        refused(lambda: attica.agreement(X, RIGHT, 0.1, **{name: value}))
    for function, arguments in (
        (attica.ridge_errors, (sigma, 5, 0.1, "first")),
        (attica.flow, (sigma, 5, 1.0, "first")),
        (attica.descent, (sigma, 5, 3, 0.1, "first")),
        (attica.spectrum, (sigma,)),
        (attica.site_spectrum, (sigma, 1)),
        (attica.kappa, ([1.0, 2.0], 5, 0.1)),
        (attica.ar1_covariance, (4, 0.5)),
        (attica.equi_covariance, (4, 0.5)),
        (attica.arrow_covariance, (4, 0.5)),
    ):
        for k in range(len(arguments)):
            refused(lambda: function(*arguments[:k], value, *arguments[k + 1 :]))
    for study in (value, "gauss-lambda"):
        refused(lambda: attica.parameters(study))
        for keywords in ({"rho": value}, {"preset": value}, {"model": {"rho": value}}, {"alpha": [value]}, {"rhho": value}):
            refused(lambda: attica.theory(study, **keywords))
    refused(lambda: attica.open(value))
    refused(lambda: attica.figure(value))
    refused(lambda: attica.figure("none.toml", format=value))


def hasattr_hash(value):
    try:
        hash(value)
        return True
    except Exception:
        return False


@pytest.mark.parametrize(
    "call, near",
    [
        (lambda: attica.judge(theory=X, simulate=RIGHT, x=X, margn=1), "judge.. has no argument 'margn'; did you mean 'margin'"),
        (lambda: attica.judge(theory=X, simulate=RIGHT, x=X, replicate=3), "did you mean 'replicates'"),
        (lambda: attica.judge(X, RIGHT), "judge.*theory, simulate, x, margin"),
        (lambda: attica.judge(theory=X), "missing a required argument: 'simulate'"),
        (lambda: attica.agreement(X, RIGHT, 0.1, finitesize=1), "did you mean 'finite_size'"),
        (lambda: attica.ridge_errors(np.eye(3), 5, lamb=0.1), "did you mean 'lam'"),
        (lambda: attica.run("gauss-lambda", thread=2), "did you mean 'threads'"),
        (lambda: attica.run("gauss-lambda", until_decide=True), "did you mean 'until_decided'"),
        (lambda: attica.theory("gauss-lambda", prest="paper"), "did you mean 'preset'"),
        (lambda: attica.theory("gauss-lambda", rhoo=0.2), "did you mean 'rho'"),
        (lambda: attica.open("x", ot="runs"), "did you mean 'out'"),
    ],
)
def test_typing_errors_name_what_was_meant(call, near):
    with pytest.raises(attica.Error, match=near):
        call()
    with pytest.raises(TypeError, match=near):  # as other functions of Python
        call()


def test_coordinates_are_what_a_table_has(tmp_path):
    pandas = pytest.importorskip("pandas")
    import pathlib

    cases = [
        (pandas.Timestamp("2024-01-01", tz="Europe/Berlin"), "2024-01-01 00:00:00+01:00"),
        (datetime.date(2024, 2, 3), "2024-02-03"),
        (np.datetime64("2024-01-01T00:00"), "2024-01-01T00:00"),
        (pandas.Timedelta("3s"), "0 days 00:00:03"),
        (pandas.Period("2024-01"), "2024-01"),
        (True, "True"), (np.bool_(False), "False"), (3, 3.0), (np.int8(3), 3.0), (np.float32(0.5), 0.5), ("0.5", 0.5),
        (fractions.Fraction(1, 4), 0.25), (decimal.Decimal("0.25"), 0.25), (pathlib.Path("a/b"), "a/b"), ("größe", "größe"),
        ("# no comment", "# no comment"), ('with, comma and "', 'with, comma and "'), ("adam", "adam"), (np.str_("sgd"), "sgd"),
    ]  # fmt: skip
    for k, (given, shown) in enumerate(cases):
        theory = [{"where": given, "x": 1.0, "value": 1.0}]
        rows = [{"where": given, "x": 1.0, "replicate": r, "value": 1 + 0.001 * NOISE[r]} for r in range(30)]
        for out in (None, tmp_path / str(k)):
            judged = attica.judge(theory=theory, simulate=rows, margin=0.1, out=out)
            assert judged.verdict == "AGREE" and judged.points[0]["where"] == shown, (given, out)
    large = 2**60 + 1
    for wrong in (object(), [1], (1, 2), {"a": 1}, 1j, b"x", math.inf, large, str(large), "a\0", "\udc80", "two\nlines"):
        with pytest.raises(attica.Error, match="row 0 of column 'where'"):
            attica.judge(theory=[dict(theory[0], where=wrong)], simulate=rows, margin=0.1, out=None)


def test_tables_in_other_forms(tmp_path):
    pandas = pytest.importorskip("pandas")
    theory = {"x": X, "value": X}
    long = pandas.DataFrame({"x": np.repeat(X, 20), "replicate": np.tile(np.arange(20), 3), "value": RIGHT.ravel()})
    records = np.array(list(long.itertuples(index=False)), dtype=[("x", "f8"), ("replicate", "i4"), ("value", "f8")])
    masked = np.ma.array(records)
    expected = attica.judge(theory=theory, simulate=long, margin=0.01, out=None).record
    for form in (long.to_dict("list"), long.to_dict("records"), records, masked, records.view(np.recarray),
                 long.set_index(["x", "replicate"]), long.set_index("x"),
                 long.astype({"replicate": "Int64", "value": "Float64"}), long.astype({"x": "category"}), long.astype(object), long.sample(frac=1, random_state=1), long[::-1]):
        record = attica.judge(theory=theory, simulate=form, margin=0.01, out=None).record
        assert [p["mean"] for p in record["points"]] == pytest.approx([p["mean"] for p in expected["points"]], rel=1e-14)
        assert record["verdict"] == "AGREE" and record["counts"] == expected["counts"]
    masked["value"][5] = np.ma.masked
    assert attica.judge(theory=theory, simulate=masked, margin=0.01, out=None).record["counts"]["failed"] == 1
    twice = pandas.concat([long, long.value], axis=1)
    for wrong, sentence in (
        (twice, "column 'value' twice"),
        (long.set_index("x", drop=False), "the index has the name of a column"),
        (pandas.concat({"a": long}, axis=1), "no column 'x'|several levels"),
        (long.rename(columns={"replicate": "rep"}), "no column 'replicate'"),
        ({"x": X, "value": [1.0]}, "columns of different lengths"),
    ):
        with pytest.raises(attica.Error, match=sentence):
            attica.judge(theory=theory, simulate=wrong, margin=0.01, out=None)


def test_columns_in_any_order_are_the_same_point():
    pandas = pytest.importorskip("pandas")
    theory = pandas.DataFrame({"x": [1.0], "a": [2], "b": ["w"], "value": [1.0]})
    rows = pandas.DataFrame({"b": "w", "a": 2.0, "x": 1.0, "replicate": range(20), "value": 1 + 0.001 * NOISE[:20]})
    assert attica.judge(theory=theory, simulate=rows, margin=0.1, out=None).verdict == "AGREE"


def test_threads_judge_at_once():
    from concurrent.futures import ThreadPoolExecutor

    def judged(seed):
        return attica.judge(theory=lambda x: x, simulate=lambda x, rng: x + 0.01 * rng.normal(), x=X, margin=0.1, seed=seed,
                            replicates=50, out=None).record

    alone = [judged(seed) for seed in range(8)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(judged, range(8))) == alone


def test_an_interrupt_keeps_what_was_simulated(tmp_path):
    calls = []

    def simulate(x, rng):
        calls.append(x)
        if len(calls) == 40:
            raise KeyboardInterrupt
        return x * (1 + 0.001 * rng.normal())

    given = dict(theory=lambda x: x, x=X, margin=0.01, replicates=20, name="mine", progress=False)
    with pytest.raises(KeyboardInterrupt) as stop:
        attica.judge(simulate=simulate, out=tmp_path, **given)
    assert len(stop.value.simulated) == 39 and "continues" in stop.value.__notes__[0]
    pandas = pytest.importorskip("pandas")
    kept = pandas.read_csv(tmp_path / "mine-unfinished.csv", float_precision="round_trip")
    assert kept.to_dict("records") == list(stop.value.simulated)
    whole = attica.judge(simulate=lambda x, rng: x * (1 + 0.001 * rng.normal()), out=None, **given)
    for known in (kept, stop.value.simulated):
        calls[:] = [0] * 100
        again = attica.judge(simulate=simulate, known=known, out=None, **given)
        assert len(calls) == 121 and again.record == whole.record


def test_a_folder_that_cannot_be_written_is_known_before_the_work(tmp_path):
    (tmp_path / "file").write_text("")
    calls = []
    for out in (tmp_path / "file", tmp_path / "file" / "below", "/proc/attica"):
        with pytest.raises(attica.Error, match="parameter 'out'") as refusal:
            attica.judge(theory=lambda x: x, simulate=lambda x, rng: calls.append(x), x=X, margin=0.1, out=out)
        assert refusal.value.exit_code == 5
    assert not calls


def test_nothing_to_compare_is_refused():
    for theory, replicates in (([], []), ([1.0], [[]]), ([1.0, 2.0], [[1.0], []])):
        with pytest.raises(attica.Error, match="parameter 'theory'|row [01] is empty"):
            attica.agreement(theory, replicates, 0.1)


def test_columns_of_rows_are_named():
    rows = attica.Rows([{"series": "a", "lambda": 1.0}, {"series": "b"}])
    assert len(rows.where(lambda_=None)) == 1 and rows.where(alpha=None) == rows
    for call in (lambda: rows.where(seris="a"), lambda: rows.column("seris")):
        with pytest.raises(KeyError, match="did you mean 'series'"):
            call()


def test_labels_of_series_and_data_arrays_put_values_in_the_order_of_x():
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    x = [0.5, 1.0, 2.0, 4.0]
    theory = {at: 1 / at for at in x}
    rng = np.random.default_rng(1)
    simulated = np.array([rng.normal(theory[at], 0.02 * theory[at], size=40) for at in x])

    def judged(theory, simulate=simulated, x=x):
        return attica.judge(theory=theory, simulate=simulate, x=x, margin=0.05, out=None, progress=False)

    plain = judged(list(theory.values()))
    assert str(plain.verdict) == "AGREE"
    series = pandas.Series(theory)
    array = xarray.DataArray(list(theory.values()), coords={"x": x}, dims=["x"])
    drawn = xarray.DataArray(simulated, coords={"x": x}, dims=["x", "replicate"])
    for one in series, series[::-1], array, array[::-1], series.set_axis([3, 5, 7, 9]), series.reset_index(drop=True):
        assert judged(one).summary == plain.summary
    # Whatever the dimensions are called, and as many replicates as x.
    square = simulated[:, :4]
    named = xarray.DataArray(square.T, coords={"step": x, "seed": [0, 1, 2, 3]}, dims=["seed", "step"])
    unlabelled = xarray.DataArray(square.T, coords={"step": x}, dims=["seed", "step"])
    for one in named, unlabelled, named[:, ::-1], named.T:
        assert judged(array, one).summary == judged(array, square).summary
    for one in drawn, drawn[::-1], drawn.T:
        assert judged(array, one).summary == plain.summary
    with pytest.raises(attica.Error, match=r"labels of a Series are .0.5, 1.0, 7.0, 8.0.*expected the same numbers"):
        judged(series.set_axis([0.5, 1.0, 7.0, 8.0]))


def test_columns_that_carry_an_index_are_read_without_it():
    pandas = pytest.importorskip("pandas")
    theory = pandas.DataFrame({"x": [1.0, 2.0], "value": [1.0, 0.5]})
    rows = [(x, r, v * (1 + 0.001 * r)) for x, v in ((1.0, 1.0), (2.0, 0.5)) for r in range(30)]
    simulated = pandas.DataFrame(rows, columns=["x", "replicate", "value"])
    frames = attica.judge(theory=theory, simulate=simulated, margin=0.05, out=None, progress=False)
    dicts = attica.judge(theory=theory.to_dict(), simulate=simulated.to_dict(), margin=0.05, out=None, progress=False)
    assert dicts.summary == frames.summary
    with pytest.raises(attica.Error, match="columns 'x' and 'value' have other rows"):
        attica.judge(theory={"x": {0: 1.0}, "value": {1: 1.0}}, simulate=simulated, margin=0.05, out=None)
    with pytest.raises(attica.Error, match="a name; expected a table that was read"):
        attica.judge(theory="theory.csv", simulate=simulated, margin=0.05, out=None)
