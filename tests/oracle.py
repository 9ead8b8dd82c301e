"""The losses of all coalitions by brute force: the owner's own predict on every masked row."""

import numpy as np

from conftest import coalitions, reference, same_profile

LOSSES = {
    "squared": lambda p, y: (p[:, 0] - y) ** 2,
    "absolute": lambda p, y: np.abs(p[:, 0] - y),
    "log": lambda p, y: -np.log(np.clip(probability(p, y), 1e-15, 1 - 1e-15)),
    "brier": lambda p, y: brier(p, y),
    "zero-one": lambda p, y: (decision(p) != y).astype(float),
}


def probability(p, y):
    if p.shape[1] == 1:
        return np.where(y == 1, p[:, 0], 1 - p[:, 0])
    return p[np.arange(len(p)), y.astype(int)]


def brier(p, y):
    if p.shape[1] <= 2:
        return (p[:, -1] - y) ** 2
    return ((p - np.eye(p.shape[1])[y.astype(int)]) ** 2).sum(axis=1)


def decision(p):
    return (p[:, 0] > 0.5).astype(int) if p.shape[1] == 1 else p.argmax(axis=1)


def brute_losses(predict, x, y, z, players, loss):
    """{bit string: mean loss over all pairs of a row of x and a row of z}; players are lists of columns."""
    rows_x, rows_z = np.repeat(x, len(z), axis=0), np.tile(z, (len(x), 1))
    truth = np.repeat(y, len(z))
    losses = {}
    for bits in coalitions(len(players)):
        rows = rows_x.copy()
        for bit, columns in zip(bits, players):
            if bit == "0":
                rows[:, columns] = rows_z[:, columns]
        losses[bits] = float(np.mean(loss(predict(rows).reshape(len(rows), -1), truth)))
    return losses


def check(found, predict, x, y, z, loss, players=None, tie=5e-5):
    """`players`: {name: columns}, by default one per feature of the profile."""
    names = found["players"]
    columns = [players[name] for name in names] if players else [[i] for i in range(x.shape[1])]
    losses = brute_losses(predict, x, y, z, columns, loss)
    # Whole lattices sum leaves in fixed point, the owner adds floats.
    tolerance = 2e-6 if found["provenance"]["engine"] == "trees" else 1e-10
    same_profile(found, reference(losses, names, tie), tolerance * max(1, max(map(abs, losses.values()))))
