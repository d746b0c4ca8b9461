"""The training theory of models in PyTorch, differentiated by PyTorch, against their training."""

import attica
import numpy as np
import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


def differentiated(losses_of):
    """losses_of(theta) of one run or of many, (..., P) to (..., n), as a model of attica's."""

    def model(theta, weights):
        t = torch.tensor(theta, requires_grad=weights is not None)
        losses = losses_of(t)
        if weights is None:
            return losses.numpy()
        (gradient,) = torch.autograd.grad((torch.as_tensor(weights) * losses).sum(), t)
        return losses.detach().numpy(), gradient.numpy()

    return model


def network(rng):
    """A two-layer tanh network on noisy labels."""
    x = torch.as_tensor(rng.normal(size=(200, 3)))
    y = torch.sin(x.sum(1)) + 0.5 * torch.as_tensor(rng.normal(size=200))

    def losses_of(theta):
        w, b, v, c = theta[..., :18].unflatten(-1, (6, 3)), theta[..., 18:24], theta[..., 24:30], theta[..., 30:]
        hidden = torch.tanh(w @ x.T + b[..., None])
        return ((v[..., None] * hidden).sum(-2) + c - y) ** 2 / 2

    return losses_of, 0.6 * rng.normal(size=31), 0.2


def attention(rng):
    """A layer of softmax attention, its query at the last of five sites, on noisy labels."""
    x = torch.as_tensor(rng.normal(size=(200, 5, 4)))
    y = x[:, 0, 0] * (x[:, -1, 1] > 0) + 0.4 * torch.as_tensor(rng.normal(size=200))

    def losses_of(theta):
        scores, value = theta[..., :16].unflatten(-1, (4, 4)), theta[..., 16:20]
        query = x[:, -1] @ scores  # (..., n, 4)
        weights = torch.softmax((query[..., None, :] * x).sum(-1), -1)
        mixed = (weights[..., None] * x).sum(-2)
        return ((mixed * value[..., None, :]).sum(-1) - y) ** 2 / 2

    return losses_of, 0.5 * rng.normal(size=20), 0.2


@pytest.mark.parametrize("make", [network, attention], ids=["network", "attention"])
def test_theory_meets_training(make):
    losses_of, start, rate = make(np.random.default_rng(77))
    model = differentiated(losses_of)
    run = dict(start=start, rate=rate, batch=64, steps=[2, 5, 10, 20, 50])
    theory = attica.training(model, pairs=16, **run)
    runs = attica.simulate_training(model, replicates=300, seed=77, vectorised=True, **run)
    assert attica.judge(theory=theory["loss"], simulate=runs, margin=0.015, out=None).verdict == "AGREE"


def test_fixed_samples():
    """Test and training loss of 400 samples are within the stated tolerance; the flow knows of no difference."""
    losses_of, start, rate = network(np.random.default_rng(77))
    model = differentiated(losses_of)
    run = dict(start=start, rate=rate, samples=400, steps=[10, 50, 100])
    theory = attica.training(model, pairs=16, **run)
    runs = attica.simulate_training(model, replicates=200, seed=77, vectorised=True, **run)
    means = {}
    for name in ("loss", "train_loss"):
        s = theory[name]
        for k, step in enumerate(run["steps"]):
            values = runs[(runs["series"] == name) & (runs["x"] == step)]["value"]
            means[name] = values.mean()
            allowed = s.finite_size[k] + s.numerical_error[k] + 4 * values.std() / np.sqrt(len(values))
            assert abs(means[name] - s.value[k]) < allowed, (name, step)
    flow = theory["loss"].order_0[-1]
    assert not theory.undescribed
    assert means["loss"] / means["train_loss"] > 1.04 and means["train_loss"] < 0.98 * flow < 0.98 * means["loss"]
