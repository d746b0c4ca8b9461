"""What the PyTorch peers of the training theory share: the recursions of theory/training/deviations.hpp in tensors.

A model is a function passes(theta, weights): losses (k, n) and, with weights (k, n) or (n,), gradients (k, P) at k places
theta (k, P).
"""
import torch

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)

STEP = 1e-3


def along(passes, p, theta, gradient, axes, own):
    """Slopes of losses, H v, T(v, v) and sum_s w_s H_s v along columns of axes."""
    both = torch.cat([theta + STEP * axes.T, theta - STEP * axes.T])
    losses, gradients = passes(both, p)
    r = axes.shape[1]
    slopes = (losses[:r] - losses[r:]).T / (2 * STEP)
    hessian = (gradients[:r] - gradients[r:]).T / (2 * STEP)
    third = ((gradients[:r] + gradients[r:] - 2 * gradient) / STEP**2).T
    if own is None:
        return slopes, hessian, third, None
    _, moved = passes(both, torch.cat([own, own]))
    return slopes, hessian, third, (moved[:r] - moved[r:]).T / (2 * STEP)


def beside(basis, columns):
    """Orthonormal columns of what is orthogonal to the basis."""
    for _ in range(2):
        columns = columns - basis @ (basis.T @ columns)
    q, r = torch.linalg.qr(columns)
    size = r.diagonal().abs()
    if len(size) == 0:
        return q
    q = q[:, size > 1e-9 * size.max()]
    return q - basis @ (basis.T @ q)


def theory(passes, start, p, rate, steps, rank, batch=0, samples=0):
    """Shift of the mean loss after some steps with fresh batches, or with fixed samples."""
    torch.manual_seed(1)
    parameters, n = len(start), len(p)
    theta, mean = start, torch.zeros(parameters)
    complete = rank >= parameters
    axes = torch.eye(parameters) if complete else torch.zeros(parameters, 0)
    held, data = torch.zeros(axes.shape[1], axes.shape[1]), torch.zeros(axes.shape[1], n)
    for step in range(steps + 1):
        _, gradient = passes(theta[None], p)
        gradient = gradient[0]
        c = held + (data * p) @ data.T / samples if samples else held
        widths, turn = torch.linalg.eigh(c) if len(c) else (torch.zeros(0), c)
        axes, held, data = axes @ turn, turn.T @ held @ turn, turn.T @ data
        old = axes.shape[1]
        known = axes if complete or step == 0 else torch.hstack([axes, beside(axes, mean[:, None])])
        own = None
        if samples:
            own = torch.zeros(known.shape[1], n)
            own[:old] = p * data
        slopes, hessian, third, moved = along(passes, p, theta, gradient, known, own)
        if step == steps:
            return gradient @ mean + (hessian[:, :old] * axes * widths).sum() / 2
        directions = known
        if not complete:
            w = torch.randn(rank, n) * p.sqrt()
            w = w - w.sum(1, keepdim=True) * p
            _, noise = passes(theta.expand(rank, -1), w)
            noise = beside(known, noise.T)
            up, _ = passes(theta + STEP * noise.T)
            down, _ = passes(theta - STEP * noise.T)
            slopes = torch.hstack([slopes, (up - down).T / (2 * STEP)])
            directions = torch.hstack([known, noise])
            directions = torch.hstack([directions, beside(directions, hessian)])
        size, seen = directions.shape[1], known.shape[1]
        h = torch.zeros(size, size)
        image = directions.T @ hessian
        h[:, :seen], h[:seen] = image, image.T
        h[:seen, :seen] = (image[:seen] + image[:seen].T) / 2
        g = torch.zeros(size, n)
        g[: slopes.shape[1]] = slopes.T
        g -= (g @ p)[:, None]
        jump = torch.eye(size) - rate * h
        axes, wide, far = directions, torch.zeros(size, size), torch.zeros(size, n)
        wide[:old, :old], far[:old] = held, data
        held = jump @ wide @ jump.T + rate**2 / batch * (g * p) @ g.T if batch else wide
        data = jump @ far - rate * g if samples else far
        drive = third[:, :old] @ widths / 2
        if samples:
            drive = drive + moved[:, :old].sum(1) / samples
        part = known.T @ mean
        force = hessian @ part + known @ (hessian.T @ mean - (hessian.T @ known) @ part)
        mean = mean - rate * (force + drive)
        if not complete:
            shares, parts = torch.linalg.eigh(held + (data * p) @ data.T if samples else held)
            kept = parts[:, shares > 1e-20 * shares[-1]][:, -rank:]
            axes, held, data = axes @ kept, kept.T @ held @ kept, kept.T @ data
        theta = theta - rate * gradient
