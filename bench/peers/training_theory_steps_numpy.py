#!/usr/bin/env python3
"""Peer of the benchmark training_theory_steps: the same recursions by numpy, all passes along the axes in one call.

P = 161, n = 81, 40 axes or as many as parameters; minibatches of 32, or 200 fixed samples. An iteration is ten steps.
"""
import peer  # before numpy: one BLAS thread, the right kernels
import numpy as np

UNITS, INPUTS, SAMPLES, STEP, RATE, STEPS = 16, 8, 81, 1e-3, 0.05, 10
PARAMETERS = (INPUTS + 2) * UNITS + 1
i, s = np.arange(INPUTS)[:, None], np.arange(SAMPLES)
X = np.sin(1.0 + i * i + 3 * s)
Y = np.cos(2.0 * s)
P = np.full(SAMPLES, 1 / SAMPLES)
START = 0.5 * np.sin(1 + 1.7 * np.arange(PARAMETERS))


def passes(theta, weights=None):
    """Losses (k, n) and, with weights (k, n) or (n,), gradients (k, P) at k places theta (k, P)."""
    k = len(theta)
    w = theta[:, : INPUTS * UNITS].reshape(k, INPUTS, UNITS).transpose(0, 2, 1)  # by columns, as in C++
    b, v = theta[:, INPUTS * UNITS :][:, :UNITS], theta[:, (INPUTS + 1) * UNITS : -1]
    t = np.tanh(w @ X + b[:, :, None])
    residual = np.einsum("ku,kun->kn", v, t) + theta[:, -1:] - Y
    losses = residual**2 / 2
    if weights is None:
        return losses, None
    pull = weights * residual
    inner = v[:, :, None] * pull[:, None, :] * (1 - t * t)
    gradient = np.empty_like(theta)
    gradient[:, : INPUTS * UNITS] = (inner @ X.T).transpose(0, 2, 1).reshape(k, INPUTS * UNITS)
    gradient[:, INPUTS * UNITS :][:, :UNITS] = inner.sum(2)
    gradient[:, (INPUTS + 1) * UNITS : -1] = (t @ pull[:, :, None])[:, :, 0]
    gradient[:, -1] = pull.sum(1)
    return losses, gradient


def along(theta, gradient, axes, own):
    """Slopes of losses, H v, T(v, v) and sum_s w_s H_s v along columns of axes."""
    both = np.concatenate([theta + STEP * axes.T, theta - STEP * axes.T])
    losses, gradients = passes(both, P)
    r = axes.shape[1]
    slopes = (losses[:r] - losses[r:]).T / (2 * STEP)
    hessian = (gradients[:r] - gradients[r:]).T / (2 * STEP)
    third = (gradients[:r] + gradients[r:] - 2 * gradient).T / STEP**2
    if own is None:
        return slopes, hessian, third, None
    _, moved = passes(both, np.concatenate([own, own]))
    return slopes, hessian, third, (moved[:r] - moved[r:]).T / (2 * STEP)


def beside(basis, columns):
    """Orthonormal columns of what is orthogonal to the basis."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
    q, r = np.linalg.qr(columns)
    q = q[:, np.abs(np.diag(r)) > 1e-9 * np.abs(np.diag(r)).max(initial=0)]
    return q - basis @ (basis.T @ q)


def theory(rank, batch, samples):
    """Shift of the loss after ten steps."""
    rng = np.random.default_rng(1)
    theta, mean = START, np.zeros(PARAMETERS)
    complete = rank >= PARAMETERS
    axes = np.eye(PARAMETERS) if complete else np.zeros((PARAMETERS, 0))
    held, data = np.zeros((axes.shape[1],) * 2), np.zeros((axes.shape[1], SAMPLES))
    for step in range(STEPS + 1):
        losses, gradient = passes(theta[None], P)
        gradient = gradient[0]
        c = held + (data * P) @ data.T / samples if samples else held
        widths, turn = np.linalg.eigh(c)
        axes, held, data = axes @ turn, turn.T @ held @ turn, turn.T @ data
        old = axes.shape[1]
        known = axes if complete or step == 0 else np.hstack([axes, beside(axes, mean[:, None])])
        own = None
        if samples:
            own = np.zeros((known.shape[1], SAMPLES))
            own[:old] = P * data
        slopes, hessian, third, moved = along(theta, gradient, known, own)
        if step == STEPS:
            return gradient @ mean + (hessian[:, :old] * axes * widths).sum() / 2
        directions = known
        if not complete:
            w = rng.normal(size=(rank, SAMPLES)) * np.sqrt(P)
            w -= w.sum(1, keepdims=True) * P
            _, noise = passes(np.tile(theta, (rank, 1)), w)
            noise = beside(known, noise.T)
            up, _ = passes(theta + STEP * noise.T)
            down, _ = passes(theta - STEP * noise.T)
            slopes = np.hstack([slopes, (up - down).T / (2 * STEP)])
            directions = np.hstack([known, noise])
            directions = np.hstack([directions, beside(directions, hessian)])
        size, seen = directions.shape[1], known.shape[1]
        h = np.zeros((size, size))
        image = directions.T @ hessian
        h[:, :seen], h[:seen] = image, image.T
        h[:seen, :seen] = (image[:seen] + image[:seen].T) / 2
        g = np.zeros((size, SAMPLES))
        g[: slopes.shape[1]] = slopes.T
        g -= (g @ P)[:, None]
        jump = np.eye(size) - RATE * h
        axes, wide, far = directions, np.zeros((size, size)), np.zeros((size, SAMPLES))
        wide[:old, :old], far[:old] = held, data
        if batch:
            held = jump @ wide @ jump.T + RATE**2 / batch * (g * P) @ g.T
        else:
            held = wide
        data = jump @ far - RATE * g if samples else far
        drive = third[:, :old] @ widths / 2
        if samples:
            drive = drive + moved[:, :old].sum(1) / samples
        part = known.T @ mean
        force = hessian @ part + known @ (hessian.T @ mean - (hessian.T @ known) @ part)
        mean = mean - RATE * (force + drive)
        if not complete:
            shares, parts = np.linalg.eigh(held + (data * P) @ data.T if samples else held)
            kept = parts[:, shares > 1e-20 * shares[-1]][:, -rank:]
            axes, held, data = axes @ kept, kept.T @ held @ kept, kept.T @ data
        theta = theta - RATE * gradient


if __name__ == "__main__":
    for name, batch, samples in (("batches", 32, 0), ("samples", 0, 200)):
        for rank in (40, PARAMETERS):
            peer.report(
                f"training_theory_steps/{name}/{rank}/real_time", lambda: theory(rank, batch, samples), least_runs=3
            )
