"""Coordinate checks: verdicts on planted powers of width, on networks in NumPy and on modules with hooks."""

import csv
import gzip
import subprocess
import sys
import warnings

import attica
import numpy as np
import pytest
from attica import coordinates

WIDTHS = [64, 128, 256, 512]


def rows(power, seeds=8, widths=WIDTHS, seed=0, modules=("first", "second"), steps=2, scatter=0.05):
    rng = np.random.default_rng(seed)
    return attica.Rows(
        {"width": w, "module": m, "step": s, "replicate": r, "value": w**power * np.exp(scatter * rng.normal())}
        for w in widths for m in modules for s in range(steps) for r in range(seeds)
    )


@pytest.mark.parametrize("seeds", [1, 3, 8])
def test_planted_powers(seeds):
    widths = [64, 128, 256, 512, 1024, 2048]
    flat = attica.coordcheck(rows(0.0, seeds, widths, scatter=0.02))
    falls = attica.coordcheck(rows(-0.3, seeds, widths, scatter=0.02))
    assert flat.verdict == "AGREE" and flat.exit_code == 0 and bool(flat)
    assert falls.verdict == "DISAGREE" and falls.exit_code == 1 and not falls
    assert all(abs(row["exponent"] + 0.3) < 0.05 and row["predicted"] == 0 for row in falls.rows)
    assert attica.coordcheck(rows(-0.3, seeds, widths, scatter=0.02), predicted={"hidden": -0.3}).verdict == "AGREE"


def test_few_widths_or_seeds_are_named_with_the_number_needed():
    three = attica.coordcheck(rows(0.0, widths=[64, 128, 256]))
    assert three.verdict == "INCONCLUSIVE" and three.exit_code == 3
    assert three.rows[0]["reason"] == "3 widths over a factor of 4; at least 4 over a factor of 8 are needed"
    near = attica.coordcheck(rows(0.0, widths=[64, 70, 80, 90]))
    assert near.verdict == "INCONCLUSIVE" and "factor of 1.41" in near.rows[0]["reason"]
    scattered = attica.coordcheck(rows(0.0, scatter=0.5))
    undecided = [row for row in scattered.rows if row["verdict"] == "INCONCLUSIVE"]
    assert undecided and all(row["seeds_needed"] > 8 and "seeds of every width would decide" in row["reason"] for row in undecided)
    with pytest.raises(attica.Error):
        bool(scattered.verdict)


def test_flat_runs_are_seldom_rejected():
    for seeds in (3, 8):
        found = [attica.coordcheck(rows(0.0, seeds, seed=k, modules="abc", steps=3, scatter=0.3)).verdict for k in range(20)]
        assert found.count("DISAGREE") <= 3, seeds


def test_students_t():
    for freedom, t in ((1, 6.313752), (2, 2.919986), (9, 1.833113), (100, 1.660234)):
        assert coordinates._t_quantile(0.05, freedom) == pytest.approx(t, abs=1e-5)
    assert coordinates._t_tail(-1, 5) == pytest.approx(1 - coordinates._t_tail(1, 5))


def network(parametrisation, rate, optimiser="sgd"):
    """Two layers of tanh, in NumPy, with the initialisation and the learning rates of a parametrisation."""

    def make_model(width, seed):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=(16, 8))
        y = np.sin(x[:, 0])
        rng = np.random.default_rng([width, seed])
        u, w = rng.normal(size=(width, 8)) / np.sqrt(8), rng.normal(size=(width, width)) / np.sqrt(width)
        v = rng.normal(size=width) / (width if parametrisation == "mup" else np.sqrt(width))
        if parametrisation == "mup":
            rates = (width, 1, 1 / width) if optimiser == "sgd" else (1, 1 / width, 1 / width)
        else:
            rates = (1, 1, 1)
        while True:
            first = x @ u.T
            second = np.tanh(first) @ w.T
            output = np.tanh(second) @ v
            yield {"input": first, "hidden": second, "output": output}
            d = (output - y) / len(y)
            d2 = np.outer(d, v) * (1 - np.tanh(second) ** 2)
            d1 = (d2 @ w) * (1 - np.tanh(first) ** 2)
            steps = (d1.T @ x, d2.T @ np.tanh(first), np.tanh(second).T @ d)
            if optimiser == "adam":
                steps = [np.sign(g) for g in steps]
            u, w, v = (p - rate * r * g for p, r, g in zip((u, w, v), rates, steps))

    return make_model


def test_networks_scale_as_their_parametrisation_says():
    widths = [48, 96, 192, 384]
    mup = attica.coordcheck(network("mup", 0.5), widths, steps=2, seeds=12, tolerance=0.25)
    assert {row["module"]: row["predicted"] for row in mup.rows if row["step"] == 0} == {"input": 0, "hidden": 0, "output": -0.5}
    assert mup.verdict in ("AGREE", "INCONCLUSIVE") and all(abs(r["exponent"] - r["predicted"]) < 0.25 for r in mup.rows), mup
    wrong = attica.coordcheck(network("standard", 0.5), widths, steps=2, seeds=12, tolerance=0.25)
    assert wrong.verdict == "DISAGREE"
    # To first order in the rate: what the tables say of standard parametrisations.
    for optimiser, rate, slack in (("sgd", 1e-6, 0.25), ("adam", 1e-7, 0.25)):
        check = attica.coordcheck(network("standard", rate, optimiser), widths, steps=1, seeds=12, predicted=f"standard-{optimiser}")
        assert all(abs(row["exponent"] - row["predicted"]) < slack for row in check.rows), check
    sizes = attica.coordcheck(network("mup", 0.5), widths, steps=1, seeds=8, quantity="size", tolerance=0.3)
    assert {row["quantity"] for row in sizes.rows} == {"size"}


def scores(power):
    """Attention scores q.k / d_head^power of one head whose k follows q in training."""

    def make_model(width, seed):
        rng = np.random.default_rng([width, seed])
        q, k = rng.normal(size=(2, 32, width))
        for step in range(3):
            yield {"block0.attn.scores": (q * (k + step * 0.5 * q)).sum(axis=1) / width**power}

    return make_model


def test_attention_divided_by_the_wrong_power_is_named():
    right, wrong = (attica.coordcheck(scores(power), [16, 64, 256, 1024], steps=2, seeds=8) for power in (1.0, 0.5))
    assert right.verdict == "AGREE" and not any(row["remark"] for row in right.rows)
    assert wrong.verdict == "DISAGREE" and "block0.attn.scores" in repr(wrong)
    assert all(row["remark"] == "as scores divided by sqrt(d_head) in place of d_head" for row in wrong.rows)


class Module:
    """As torch.nn.Linear: what coordcheck asks of a module."""

    def __init__(self, weight=None, children=()):
        self.weight, self.parts, self.hooks = weight, dict(children), []

    def children(self):
        return list(self.parts.values())

    def named_modules(self):
        yield "", self
        for name, part in self.parts.items():
            yield name, part

    def register_forward_hook(self, hook):
        self.hooks.append(hook)
        return self

    def remove(self):
        self.hooks.pop()

    def __call__(self, x):
        for part in self.parts.values():
            x = part(x)
        x = x if self.weight is None else x @ self.weight.T
        for hook in self.hooks:
            hook(self, (), x)
        return x


def test_modules_with_hooks():
    made = []

    def make_model(width, seed):
        rng = np.random.default_rng([width, seed])
        parts = {"embedding": Module(rng.normal(size=(width, 8))), "mix": Module(rng.normal(size=(width, width)) / np.sqrt(width)),
                 "readout": Module(rng.normal(size=(3, width)) / width)}
        model = Module(children=parts)
        made.append(model)

        def step():
            model(np.ones((4, 8)))  # of the training: not recorded
            parts["readout"].weight = parts["readout"].weight + 1 / width * np.sign(parts["mix"](parts["embedding"](np.ones(8))))

        return model, step, np.eye(8)[:5]

    check = attica.coordcheck(make_model, WIDTHS, steps=1, seeds=8, tolerance=0.2)
    assert {row["module"]: row["kind"] for row in check.rows} == {"embedding": "input", "mix": "hidden", "readout": "output"}
    initial = {row["module"]: row["exponent"] for row in check.rows if row["step"] == 0}
    assert abs(initial["embedding"]) < 0.1 and abs(initial["mix"]) < 0.1 and abs(initial["readout"] + 0.5) < 0.2
    assert not any(part.hooks for model in made for part in model.parts.values())


def test_tables_and_the_command(tmp_path):
    path = tmp_path / "coords.csv"
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["n", "module", "step", "seed", "value"])
        writer.writerows([row["width"], row["module"], row["step"], row["replicate"], row["value"]] for row in rows(-0.3))
    assert attica.coordcheck(path, x="n").verdict == "DISAGREE"

    def command(*arguments):
        return subprocess.run([sys.executable, "-m", "attica", "coordcheck", *arguments], capture_output=True, text=True)

    done = command(str(path), "--x", "n")
    assert done.returncode == 1 and "DISAGREE: 0 of 4 exponents of width agree within 0.1" in done.stdout, done.stderr
    assert command(str(path), "--x", "n", "--expect", "first=-0.3", "--expect", "second=-0.3").returncode == 0
    assert '"verdict": "DISAGREE"' in command(str(path), "--x", "n", "--json").stdout
    assert command(str(path)).returncode == 2 and "no column 'width'" in command(str(path)).stderr
    assert command(str(tmp_path / "none.csv")).returncode == 5


def test_files_are_read_as_all_tables_are(tmp_path):
    """By the reader of judge: every dress of a table gives the same numbers, and what is unclear is refused with its place."""
    path = tmp_path / "coords.csv"
    plain = "width,module,step,value\n" + "".join(f"{w},a,0,{w**-0.5}\n" for w in (64, 128, 256, 512, 1024))

    def exponent(content):
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return attica.coordcheck(str(path), predicted={"a": -0.5}).rows[0]["exponent"]

    same = [
        plain.replace(",", ";"), plain.replace(",", "\t"), plain.replace(",", ", "), plain.replace("\n", "\r\n"), "# of a run\n" + plain,
        plain + "\n# end\n", plain.encode("utf-16"), b"\xef\xbb\xbf" + plain.encode(), gzip.compress(plain.encode()),
        "[" + ",".join(f'{{"width": {w}, "module": "a", "step": 0, "value": {w**-0.5}}}' for w in (64, 128, 256, 512, 1024)) + "]",
    ]
    for content in same:
        assert exponent(content) == pytest.approx(-0.5), content
    for content, sentence in [
        (plain.replace("value\n", "value,value\n", 1), "coords.csv:1:25: error: column 'value' twice"),
        (plain + "2048,a,0,1,9\n", "coords.csv:7:.*5 fields, expected 4"),
        (plain + "2048,a\n", "coords.csv:7:.*2 fields, expected 4"),
        (plain + "2048,a,,1\n", "line 7, column 'step' gave nan; expected a finite number"),
        (plain + "2048,,0,1\n", "line 7, column 'module' is empty"),
        (plain + "2048,a,0,one\n", "line 7, column 'value' gave 'one'"),
        (plain.replace(",", ";").replace(".", ","), "line 2, column 'value' gave '0,125'"),
        (plain.replace("a", "é").encode("latin1"), "no UTF-8 text"),
        (b"PAR1\0", "a Parquet file"),
    ]:
        with pytest.raises(attica.Error, match=sentence):
            exponent(content)


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"widths": None}, "parameter 'widths' is missing"),
        ({"widths": [64, 64]}, "expected distinct whole numbers"),
        ({"predicted": "mpu"}, "expected mup, standard-sgd or standard-adam"),
        ({"make_model": lambda w, s: [{"a": np.ones(3)}]}, "ended before step 1; expected coordinates at steps 0 to 1"),
        ({"make_model": lambda w, s: [1, 2]}, "expected a dict of arrays by module"),
        ({"make_model": lambda w, s: [{"a": np.ones(3)}, {"a": np.ones(4)}]}, "the same probe"),
        ({"make_model": 3}, "expected make_model"),
        ({"make_model": attica.Rows([{"width": 1, "value": 2}] * 2)}, None),
        ({"kinds": {"a": "middle"}}, "kind of 'a' = 'middle'"),
    ],
)
def test_bad_input_is_refused(change, sentence):
    given = {"make_model": lambda w, s: [{"a": np.ones(3)}, {"a": np.zeros(3)}], "widths": [1, 2], "steps": 1, "seeds": 2}
    if sentence is None:
        assert attica.coordcheck(change["make_model"]).verdict == "INCONCLUSIVE"
        return
    with pytest.raises(attica.Error, match=sentence):
        attica.coordcheck(**{**given, **change})


def test_coordinates_that_are_zero_are_not_compared():
    def make_model(width, seed):
        rng = np.random.default_rng([width, seed])
        for _ in range(2):
            yield {"readout": np.zeros(5), "hidden": 1 + 0.01 * rng.normal(size=(5, 3))}

    check = attica.coordcheck(make_model, WIDTHS, steps=1, seeds=8)
    assert [row["verdict"] for row in check.rows if row["module"] == "readout"] == [None, None]
    assert "not compared" in check.summary and check.verdict == "AGREE"


def test_its_figure():
    matplotlib = pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    matplotlib.use("Agg")
    axes = attica.coordcheck(rows(0.0)).plot()
    assert axes.get_xscale() == "log" and len(axes.get_lines()) == 4


def test_other_columns_are_not_mixed_in_silence():
    rows = [
        {"width": w, "lr": lr, "note": "same", "module": "h", "step": 1, "value": w**p * (1 + 0.01 * r)}
        for w in (64, 128, 256, 512, 1024)
        for lr, p in ((0.1, 0), (0.2, 1))
        for r in range(8)
    ]
    with pytest.warns(UserWarning, match="column 'lr' is not used: runs of module 'h' at width 64") as said:
        attica.coordcheck(attica.Rows(rows))
    assert len(said) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert attica.coordcheck(attica.Rows(row for row in rows if row["lr"] == 0.1)).verdict == "AGREE"
