"""Trainings from a file: the theory from that start AGREEs with a training of one's own, and not at twice the rate.

Where PyTorch is there it trains; NumPy does otherwise.
"""

import json
import math
import struct

import attica
import numpy as np
import pytest

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None


def judged(theory, simulated, margin=0.01):
    return attica.judge(theory=theory, simulate=np.asarray(simulated), margin=margin, out=None)


def repeated(found, rng):
    """A training without random numbers, as replicates that differ by a part in a million: equal ones say nothing of scatter."""
    return np.array(found)[:, None] * (1 + 1e-6 * rng.normal(size=(1, 12)))


def tensors(path, arrays):
    """What `safetensors.numpy.save_file` writes."""
    header, data = {}, b""
    for name, array in arrays.items():
        raw = array.astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def regression_step(v, u, beta, x, y, eta):
    """A step of linear attention with merged keys and queries, for many runs at once."""
    if torch is None:
        whole = np.einsum("rh,rhij->rij", v, u)
        off = np.einsum("rbi,rij,rbj->rb", beta, whole, x) - y
        slope = np.einsum("rb,rbi,rbj->rij", off, beta, x) / y.shape[1]
        return v - eta * np.einsum("rij,rhij->rh", slope, u), u - eta * np.einsum("rh,rij->rhij", v, slope)
    v, u = torch.tensor(v, requires_grad=True), torch.tensor(u, requires_grad=True)
    f = torch.einsum("rbi,rh,rhij,rbj->rb", torch.as_tensor(beta), v, u, torch.as_tensor(x))
    ((f - torch.as_tensor(y)) ** 2 / 2).mean(1).sum().backward()
    with torch.no_grad():
        return (v - eta * v.grad).numpy(), (u - eta * u.grad).numpy()


def test_merged_attention(tmp_path):
    rng = np.random.default_rng(1)
    d, n, heads, batch, runs = 4, 31, 3, 64, 28
    spectrum = np.arange(d, 0, -1.0) / np.arange(1, d + 1).sum()
    start = {"layer0.out": 0.35 * rng.normal(size=heads), "layer0.W": 0.35 * rng.normal(size=(2, heads, d, d))}
    np.savez(tmp_path / "net.npz", **start)
    file = f"{tmp_path}/net.npz:U=layer0.W[1],v=layer0.out"
    times = [2.0, 5.0, 10.0]
    theory = attica.theory("icl-merged", init_file=file, eta=0.05, times=times)["mse"].at(init_scale=1.0)

    def trained(eta):
        v = np.repeat(start["layer0.out"][None], runs, 0)
        u = np.repeat(start["layer0.W"][1][None], runs, 0)
        found = []
        for step in range(1, 201):
            context = rng.normal(size=(runs, batch, n, d)) * np.sqrt(spectrum)
            w = rng.normal(size=(runs, batch, d))
            beta = np.einsum("rbni,rbnj,rbj->rbi", context, context, w, optimize=True) / n
            x = rng.normal(size=(runs, batch, d)) * np.sqrt(spectrum)
            v, u = regression_step(v, u, beta, x, (x * w).sum(-1), eta)
            if step in (40, 100, 200):
                whole = np.einsum("rh,rhij->rij", v, u)
                second = (1 + 1 / n) * spectrum**2 + spectrum * spectrum.sum() / n
                linear = np.einsum("rii,i->r", whole, spectrum**2)
                square = np.einsum("rij,rij,i,j->r", whole, whole, second, spectrum)
                found.append(spectrum.sum() - 2 * linear + square)
        return found

    assert str(judged(theory, trained(0.05), 0.05).verdict) == "AGREE"
    assert str(judged(theory, trained(0.1), 0.05).verdict) == "DISAGREE"


def test_factored_attention(tmp_path):
    rng = np.random.default_rng(2)
    sites, colours, beta, eta, batch, runs = 4, 3, 0.8, 0.05, 2048, 16
    j = 0.7 * rng.normal(size=(sites, sites))
    j = (j + j.T) * (1 - np.eye(sites))
    c = rng.normal(size=(colours, colours))
    c = (c + c.T) / 2
    np.savetxt(tmp_path / "j.csv", j, delimiter=",")
    np.savetxt(tmp_path / "c.csv", c, delimiter=",")
    a, v = 0.4 * rng.normal(size=(sites, sites)), 0.4 * rng.normal(size=(colours, colours))
    tensors(tmp_path / "start.safetensors", {"A": a, "V": v})
    times = [5.0, 10.0, 20.0]
    theory = attica.theory(
        "potts-flow", init_file=f"{tmp_path}/start.safetensors", sites=sites, colours=colours, beta=beta, couplings="explicit",
        colour_couplings="explicit", file=f"{tmp_path}/j.csv", colour_file=f"{tmp_path}/c.csv", eta=eta, batch=batch, times=times,
    )["excess_loss"]
    states = np.stack(np.meshgrid(*[range(colours)] * sites, indexing="ij"), -1).reshape(-1, sites)
    energy = sum(j[i, k] * c[states[:, i], states[:, k]] for i in range(sites) for k in range(i))
    p = np.exp(beta * energy)
    p /= p.sum()
    one_hot = np.eye(colours)[states]  # states x sites x colours

    def losses(a, v):
        """Of every state, a mean over masked sites, with the slopes of logits."""
        logits = np.einsum("rij,rac,sjc->rsia", a * (1 - np.eye(sites)), v, one_hot, optimize=True)
        logits -= logits.max(-1, keepdims=True)
        probability = np.exp(logits)
        probability /= probability.sum(-1, keepdims=True)
        return -np.log((probability * one_hot).sum(-1)).mean(-1), (probability - one_hot) / sites

    bayes = losses(beta * j[None], c[None])[0][0] @ p

    def trained(eta):
        at, vt = np.repeat(a[None], runs, 0), np.repeat(v[None], runs, 0)
        found = []
        for step in range(1, 401):
            weight = rng.multinomial(batch, p, size=runs) / batch
            slope = losses(at, vt)[1] * weight[:, :, None, None]
            of_a = np.einsum("rsia,rac,sjc->rij", slope, vt, one_hot, optimize=True) * (1 - np.eye(sites))
            of_v = np.einsum("rsia,rij,sjc->rac", slope, at * (1 - np.eye(sites)), one_hot, optimize=True)
            at, vt = at - eta * of_a, vt - eta * of_v
            if step in (100, 200, 400):
                found.append(losses(at, vt)[0] @ p - bayes)
        return found

    assert str(judged(theory, trained(eta), 0.04).verdict) == "AGREE"
    assert str(judged(theory, trained(2 * eta), 0.04).verdict) == "DISAGREE"


def test_softmax_attention_with_an_mlp(tmp_path):
    rng = np.random.default_rng(3)
    tokens, classes, eta, temperature = 8, 5, 0.5, 0.5
    start = {"V": rng.normal(size=(classes, tokens)), "Z": rng.normal(size=(1, tokens)), "R": 0.1 * rng.normal(size=(classes, 1))}
    np.savez_compressed(tmp_path / "start.npz", **start)
    steps = [20, 50, 100, 200]
    theory = attica.theory(
        "joma-softmax", init_file=f"{tmp_path}/start.npz", tokens=tokens, classes=classes, temperature=temperature,
        inputs=["random"], eta=eta, steps=steps,
    )["loss"]
    k, l = np.arange(1, classes + 1)[:, None], np.arange(1, tokens + 1)[None]
    x = 0.25 * (1 + np.sin(1.7 * l + 0.9 * k * (l + 1)))
    x /= x.sum(1, keepdims=True)

    def trained(eta):
        v, z, r = start["V"], start["Z"], start["R"]
        found = []
        for step in range(1, 201):
            b = x * np.exp(z / temperature)
            b /= b.sum(1, keepdims=True)
            h = b @ v.T + r.T
            probability = np.exp(h) / np.exp(h).sum(1, keepdims=True)
            g = (np.eye(classes) - probability) / classes
            back = g @ v
            of_z = (b * (back - (b * back).sum(1, keepdims=True))).sum(0, keepdims=True) / temperature
            v, r, z = v + eta * g.T @ b, r + eta * g.sum(0)[:, None], z + eta * of_z
            if step in steps:
                b = x * np.exp(z / temperature)
                h = (b / b.sum(1, keepdims=True)) @ v.T + r.T
                found.append(np.mean(np.log(np.exp(h).sum(1)) - np.diag(h)))
        return repeated(found, rng)

    assert str(judged(theory, trained(eta), 1e-3).verdict) == "AGREE"
    assert str(judged(theory, trained(2 * eta), 1e-3).verdict) == "DISAGREE"


def entropy(logits):
    p = np.exp(logits - logits.max())
    p /= p.sum()
    return -(p * np.log(p)).sum()


def test_saturating_mlp(tmp_path):
    """v' = (mu - v) rate: descent of softmax attention with whole steps, and the flow of exponential attention by short ones."""
    rng = np.random.default_rng(8)
    mu, gamma, eta = np.array([3.0, 1.0, 2.0, 1.5]), 0.4, 0.1  # not sorted: starts belong to their mu
    start = rng.normal(size=4)
    np.save(tmp_path / "start.npy", start)
    steps = [0, 10, 30, 100]
    descent = attica.theory("joma-entropy-gd", init_file=f"{tmp_path}/start.npy", mu=mu, gamma=gamma, eta=eta, **{"sim.steps": steps})
    np.savez(tmp_path / "start.npz", weights=start)
    times = [0.02, 0.1, 0.3, 1.0]
    flow = attica.theory("joma-bounce", init_file=f"{tmp_path}/start.npz:weights", mu=mu, **{"sweep.gamma": [gamma], "sim.times": times})

    def trained(eta, recorded, normalised):
        v, found = start, []
        for step in range(recorded[-1] + 1):
            if step in recorded:
                found.append(entropy(gamma * v**2))
            rate = np.exp(gamma * v**2)
            v = v + eta * (mu - v) * rate / (rate.sum() if normalised else 1)
        return repeated(found, rng)

    theory = descent["attention_entropy"]
    assert str(judged(theory, trained(eta, steps, True), 1e-4).verdict) == "AGREE"
    assert str(judged(theory, trained(2 * eta, steps, True), 1e-4).verdict) == "DISAGREE"
    theory, short = flow["attention_entropy"].at(gamma=gamma), 1e-4
    recorded = [round(time / short) for time in times]
    assert str(judged(theory, trained(short, recorded, False), 2e-3).verdict) == "AGREE"
    assert str(judged(theory, trained(2 * short, recorded, False), 2e-3).verdict) == "DISAGREE"
    with pytest.raises(attica.Error, match="model.v0"):
        attica.theory("joma-bounce", init_file=f"{tmp_path}/start.npy", mu=mu, v0=0.1)
    with pytest.raises(attica.Error, match="sim.scale.* has no meaning with model.init_file"):
        attica.theory("potts-flow", init_file=f"{tmp_path}/start.npy", scale=0.1)
    with pytest.raises(attica.Error, match="model.init_seed"):
        attica.theory("icl-merged", init_file=f"{tmp_path}/start.npy", init_seed=2)


@pytest.mark.parametrize("with_logits", [True, False])
def test_linear_mlp(tmp_path, with_logits):
    """Descent of v and z on the whole population, against the error function with its bias of first order in the step."""
    delta = np.array([0.3, -0.2, 0.05])
    v0, z0 = np.array([0.5, 0.4, -0.3]), np.array([-0.4, 0.3, 0.2]) * with_logits
    np.savez(tmp_path / "start.npz", V=v0, **({"Z": z0} if with_logits else {}))
    left = np.array([1 - math.copysign(1, d) * math.erf(v / math.sqrt(2)) for d, v in zip(delta, v0)])
    blowup = (math.sqrt(math.pi / 2) * np.exp(v0**2 / 2 - z0) * left / abs(delta)).min()
    steps, eta = [25, 50, 100], blowup / 250
    theory = attica.theory(
        "joma-erf", init_file=f"{tmp_path}/start.npz", delta=delta, eta=eta, batch=10**9,
        **{"sweep.time_fraction": [step / 250 for step in steps]},
    )  # fmt: skip

    def trained(eta):
        v, z, found = v0, z0, []
        for step in range(1, steps[-1] + 1):
            push = eta * delta * np.exp(z)
            v, z = v + push, z + push * v
            if step in steps:
                found.append(v)
        return np.array(found)

    for token in range(3):
        weight = theory["v"].at(token=token + 1)
        for rate, verdict in ((eta, "AGREE"), (2 * eta, "DISAGREE")):
            found = repeated(trained(rate)[:, token], np.random.default_rng(9))
            assert str(judged(weight, found, 1e-3).verdict) == verdict, token
    told = [theory["attention_entropy"].y[k] for k in range(3)]
    assert told == pytest.approx([entropy(v**2 / 2 + z0 - v0**2 / 2) for v in trained(eta)], rel=0.01)


def test_bigrams(tmp_path):
    rng = np.random.default_rng(4)
    tokens, context, eta_v, eta_a = 3, 12, 0.05, 0.05
    p = np.full((tokens, tokens), 0.1) + 0.7 * np.eye(tokens)
    q = np.zeros((context, tokens))
    lines = ["mu " + " ".join(["0.3333333333333333"] * tokens)] + ["P " + " ".join(map(str, row)) for row in p]
    for last in range(tokens):
        q[[last, 5 + 2 * last], last] = 0.5
        lines.append(f"Q {last} {last}:0.5 {5 + 2 * last}:0.5")
    (tmp_path / "law.txt").write_text("\n".join(lines) + "\n")
    v = 1 / tokens + 0.2 * rng.normal(size=(tokens, tokens))
    a = 1 / context + 0.1 * rng.normal(size=(context, tokens))
    v, a = v / v.sum(0), a / a.sum(0)
    np.savez(tmp_path / "start.npz", value=v, attention=a)
    steps = [10, 30, 100, 300]
    theory = attica.theory(
        "bigrams-flow", init_file=f"{tmp_path}/start.npz:V=value,A=attention", instance="explicit", file=f"{tmp_path}/law.txt",
        tokens=tokens, context=context, sparsity=2, eta_V=eta_v, eta_A=eta_a, **{"sim.steps": steps},
    )["excess_loss"].at(problem="standard", method="descent")
    mu = np.full(tokens, 1 / tokens)
    covariance = np.diag(mu) - np.outer(mu, mu)

    def centred(m):
        return m - m.mean(0)

    def trained(scale):
        vt, at = v, a
        found = []
        for step in range(1, steps[-1] + 1):
            total, norm, overlap = at.sum(0), (at**2).sum(0), (at * q).sum(0)
            of_v = sum(
                mu[k] * (vt @ (norm[k] * covariance + total[k] ** 2 * np.outer(mu, mu)) - p @ (overlap[k] * covariance + total[k] * np.outer(mu, mu)))
                for k in range(tokens)
            )
            of_a = np.trace(vt.T @ vt @ covariance) * at - np.trace(vt.T @ p @ covariance) * q
            vt = vt - scale * eta_v * centred(of_v) @ (np.diag(1 / mu) - 1)
            at = at - scale * eta_a * centred(of_a)
            if step in steps:
                total, norm, overlap = at.sum(0), (at**2).sum(0), (at * q).sum(0)
                off = vt @ mu - mu
                loss = sum(
                    mu[k] * (norm[k] * np.trace(vt.T @ vt @ covariance) - 2 * overlap[k] * np.trace(vt.T @ p @ covariance)
                             + (q[:, k] ** 2).sum() * np.trace(p.T @ p @ covariance) + off @ off) / 2
                    for k in range(tokens)
                )
                found.append(loss)
        return repeated(found, rng)

    assert str(judged(theory, trained(1), 1e-4).verdict) == "AGREE"
    assert str(judged(theory, trained(2), 1e-4).verdict) == "DISAGREE"


def test_masked_gaussian_sequences(tmp_path):
    rng = np.random.default_rng(5)
    sites, samples, eta, runs = 9, 24, 0.02, 400
    covariance = 0.6 ** np.abs(np.subtract.outer(np.arange(sites), np.arange(sites)))
    start = 0.4 * rng.normal(size=(sites, sites))
    np.save(tmp_path / "start.npy", start)
    times = [0.5, 1.0, 2.0, 4.0]
    theory = attica.theory(
        "gauss-flow", init_file=f"{tmp_path}/start.npy", sites=sites, rho=0.6, alpha=[samples / (sites - 1)], times=times,
    )["test_error"]
    factor = np.linalg.cholesky(covariance)

    def trained(eta):
        data = rng.normal(size=(runs, samples, sites)) @ factor.T
        gram = np.einsum("rmi,rmj->rij", data, data) / samples
        a = np.repeat((start * (1 - np.eye(sites)))[None], runs, 0)
        found = []
        for step in range(1, 201):
            a = a + eta * ((np.eye(sites) - a) @ gram) * (1 - np.eye(sites))
            if step in (25, 50, 100, 200):
                left = np.eye(sites) - a
                found.append(np.einsum("rij,jk,rik->r", left, covariance, left) / sites)
        return found

    assert str(judged(theory, trained(eta), 0.03).verdict) == "AGREE"
    assert str(judged(theory, trained(2 * eta), 0.03).verdict) == "DISAGREE"


@pytest.mark.parametrize("name", ["U", "U[0]", "nothing"])
def test_refusals_name_file_array_and_shapes(tmp_path, name):
    np.savez(tmp_path / "net.npz", v=np.ones(2), U=np.ones((2, 4, 3)))
    with pytest.raises(attica.Error) as refusal:
        attica.theory("icl-merged", init_file=f"{tmp_path}/net.npz:U={name}")
    text = str(refusal.value)
    assert "model.init_file" in text and "net.npz" in text and name in text
    if name == "U":
        assert "2 x 4 x 3" in text and "2 x 4 x 4" in text


def test_an_array_is_assigned_once(tmp_path):
    np.savez(tmp_path / "net.npz", v=np.ones(2), U=np.ones((2, 4, 4)), W=np.ones((2, 4, 4)))
    with pytest.raises(attica.Error, match="one array for 'U', not two"):
        attica.theory("icl-merged", init_file=f"{tmp_path}/net.npz:U=W,U=U")


def test_entries_whose_squares_overflow(tmp_path):
    np.save(tmp_path / "huge.npy", np.full((21, 21), 1e300))
    with pytest.raises(attica.Error, match="entries within 1e\\+150 of 0"):
        attica.theory("gauss-flow", sites=21, init_file=f"{tmp_path}/huge.npy")


def test_measures(tmp_path):
    rng = np.random.default_rng(6)
    table = rng.normal(size=(300, 64))
    assert attica.measure(table, tokens="rows").column("mean_abs_cosine")[0] == pytest.approx(0.0997, abs=0.002)
    tensors(tmp_path / "m.safetensors", {"embed.weight": table, "bias": np.ones(3)})
    row = attica.measure(f"{tmp_path}/m.safetensors:embed.weight", tokens="rows")[0]
    assert row["mean_abs_cosine"] == pytest.approx(0.0997, abs=0.002)
    assert [r["file"] for r in attica.measure(f"{tmp_path}/m.safetensors")] == [f"{tmp_path}/m.safetensors:embed.weight"]
    topics = [k % 3 for k in range(60)] + [None] * 240
    words = table.copy()
    words[:60] += 1.5 * rng.normal(size=(3, 64))[[k % 3 for k in range(60)]]
    told = attica.measure(words, tokens="rows", topics=topics)[0]
    assert told["cosine_same_topic"] > told["cosine_other_topic"] + 0.3 and told["cosine_p"] == pytest.approx(0.001)
    assert attica.measure(table, tokens="rows", topics=topics)[0]["cosine_p"] > 0.01
    # The same topics in other words: text with commas, numbers of an array, and what stands for none.
    for none in (None, "-", float("nan"), np.nan, ""):
        for names in (["a, x", "b, x", "c, x"], ["0", "1\n", "-1"], [0.0, 1.0, 2.5]):
            assert attica.measure(words, tokens="rows", topics=[none if t is None else names[t] for t in topics])[0] == told
    assert attica.measure(words, tokens="rows", topics=np.array([np.nan if t is None else t for t in topics]))[0] == told


def test_attention_along_checkpoints(tmp_path):
    rng = np.random.default_rng(7)
    sharpness = [0, 1, 2, 3, 3, 3, 3, 3, 2, 2, 2, 2, 2, 2]
    logits = rng.normal(size=(4, 12, 20))
    files = []
    for k, beta in enumerate(sharpness):
        weights = np.exp(beta * logits)
        files.append(f"{tmp_path}/step{k}.npz:attention[2]")
        np.savez(tmp_path / f"step{k}.npz", attention=weights / weights.sum(-1, keepdims=True))
    row = attica.measure(*files, series=True)[0]
    assert row["attention_entropy"][0] == pytest.approx(np.log(20)) and row["fall"] > 0.5
    assert 0 < row["bounce_low"] < row["bounce"] < row["bounce_high"] < 1
