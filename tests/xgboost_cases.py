"""Small XGBoost models of many kinds, shared by the tests and by the maker of the fixtures."""

import numpy as np


def make_data(rows=600, seed=1):
    """Five numbers, one of them often equal to a threshold, one small category code; some values missing."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(rows, 6)).astype(np.float32)
    x[:, 3] = rng.integers(0, 4, rows)
    x[:, 5] = rng.integers(0, 9, rows)
    signal = x[:, 0] * 2 + x[:, 1] ** 2 + (x[:, 5] % 3) + (x[:, 3] > 1)
    x[rng.random(x.shape) < 0.08] = np.nan
    return x, (signal + rng.normal(size=rows) * 0.2).astype(np.float32)


def target(objective, signal):
    if objective in ("reg:gamma", "reg:tweedie", "count:poisson"):
        return np.floor(np.exp(signal / 4)) + 1
    if objective == "reg:squaredlogerror":
        return np.abs(signal)
    if objective == "reg:logistic":
        return 1 / (1 + np.exp(-signal))
    if objective.startswith("binary:") or objective.startswith("rank:"):
        return (signal > 2).astype(int)
    if objective.startswith("multi:"):
        return np.digitize(signal, [0.5, 2, 3.5])
    return signal


NUMBERS = ["q"] * 6
CATEGORIES = ["q"] * 5 + ["c"]


def train(xgb, objective, parameters=None, rounds=5, types=None):
    """Returns a booster; `types` are feature types, with "c" for column 5."""
    x, signal = make_data()
    data = xgb.DMatrix(x, target(objective, signal), feature_types=types or NUMBERS, enable_categorical=True)
    if objective.startswith("rank:"):
        data.set_group([100] * 6)
    settings = {"objective": objective, "max_depth": 3, "tree_method": "hist", "nthread": 1}
    if objective.startswith("multi:"):
        settings["num_class"] = 4
    settings.update(parameters or {})
    return xgb.train(settings, data, rounds)


def edge_rows(x):
    """Rows whose category is no category, or one that training did not see, before ordinary ones."""
    strange = [-1, -0.5, 1.5, 8.999, 9, 31, 32, 100, 2**24 - 1, 2**24, 1e10, np.nan, 0, -0.0]
    rows = np.repeat(x[:1], len(strange), axis=0)
    rows[:, 5] = strange
    empty = np.full((1, x.shape[1]), np.nan, np.float32)
    return np.concatenate([rows, empty, x]).astype(np.float32)
