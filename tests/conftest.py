"""What the end-to-end tests share: running the binary, writing tables, and a brute-force profile as oracle."""

import itertools
import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small models: XGBoost waits for threads longer than it works
ROOT = pathlib.Path(__file__).resolve().parent.parent
HIFI = os.environ.get("HIFI", str(ROOT / "build" / "release" / "hifi"))
SHARED = pathlib.Path(os.environ.get("HIFI_SHARED", ROOT.parent / "shared"))


@pytest.fixture
def shared():
    if not SHARED.is_dir():
        pytest.skip("needs ../shared, which this clone does not have")
    return SHARED


@pytest.fixture
def xgb():
    return pytest.importorskip("xgboost")


@pytest.fixture
def hifi(tmp_path):
    """Runs hifi in the test's own folder."""

    def run(*words, code=0, env=None, timeout=120, **options):
        words = [str(word) for word in words]
        result = subprocess.run([HIFI, *words], cwd=tmp_path, capture_output=True, text=True, timeout=timeout,
                                env={**os.environ, **(env or {})}, **options)
        assert result.returncode == code, f"exit {result.returncode}: {words}\n{result.stdout}{result.stderr}"
        return result

    return run


@pytest.fixture
def profile(hifi):
    """The JSON profile that a command writes to standard output."""

    def run(*words, **options):
        return json.loads(hifi(*words, "--json", "-", **options).stdout)

    return run


def write_csv(path, columns):
    """Columns by name; None and NaN are missing, numbers keep all their digits."""

    def text(value):
        if value is None or (isinstance(value, float) and np.isnan(value)):
            return ""
        return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)

    rows = zip(*columns.values())
    path.write_text("\n".join([",".join(columns), *(",".join(map(text, row)) for row in rows)]) + "\n")
    return path


def write_losses(path, losses):
    path.write_text("coalition,loss\n" + "".join(f"{bits},{loss!r}\n" for bits, loss in losses.items()))
    return path


def coalitions(n):
    return ["".join(bits) for bits in itertools.product("01", repeat=n)]


def table_of(n, game):
    """The complete table of a game, a function of the set of players (from 0)."""
    return {bits: float(game({i for i, bit in enumerate(bits) if bit == "1"})) for bits in coalitions(n)}


# The oracle: every quantity of DESIGN section 2 from its definition, contexts by full enumeration.

def smallest(contexts, names):
    return [names[i] for i in min(contexts, key=lambda c: (len(c), c))]


def quantity(value=None, context=None):
    return {"value": value, "context": context}


def extremum(by_context, tolerance, names):
    best = max(by_context.values())
    return best, smallest([c for c, v in by_context.items() if v >= best - tolerance], names)


def reference(losses, names, tie=1e-9):
    """Profile of {bit string: loss}, complete or not."""
    n = len(names)
    cells = {tuple(i for i in range(n) if bits[i] == "1"): loss for bits, loss in losses.items()}
    tolerance = tie * max(abs(loss) for loss in cells.values())

    def join(context, *players):
        return tuple(sorted({*context, *players}))

    features = []
    for i in range(n):
        gains = {c: cells[c] - cells[join(c, i)] for c in cells if i not in c and join(c, i) in cells}
        f = {"player": names[i], "contexts": {"seen": len(gains), "of": 2 ** (n - 1)}, "gain": [None] * 3}
        f.update({key: quantity() for key in ("U", "R", "S", "pi", "Lmax", "last")})
        if gains:
            low, low_context = extremum({c: -g for c, g in gains.items()}, tolerance, names)
            high, high_context = extremum(gains, tolerance, names)
            f["U"], f["Lmax"] = quantity(-low, low_context), quantity(high, high_context)
            f["gain"] = [float(q) for q in np.quantile(list(gains.values()), [0.05, 0.5, 0.95])]
            others = join(set(range(n)) - {i})
            if others in gains:
                f["last"] = quantity(gains[others], [names[k] for k in others])
            if () in gains:
                f["pi"] = quantity(gains[()], [])
                f["R"] = quantity(gains[()] + low, low_context)
                f["S"] = quantity(high - gains[()], high_context)
        features.append(f)

    pairs = []
    for i, j in itertools.combinations(range(n), 2):
        corners = {c: (join(c, i), join(c, j), join(c, i, j)) for c in cells if i not in c and j not in c}
        delta = {c: cells[a] + cells[b] - cells[ab] - cells[c]
                 for c, (a, b, ab) in corners.items() if {a, b, ab} <= cells.keys()}
        p = {"players": [names[i], names[j]], "contexts": {"seen": len(delta), "of": 2 ** (n - 2)}}
        for key, sign in (("S", 1), ("R", -1)):
            p[key] = quantity()
            if delta:
                best, context = extremum({c: max(0, sign * d) for c, d in delta.items()}, tolerance, names)
                p[key] = quantity(best, context if best > 1e-13 else None)
        pairs.append(p)
    return {"features": features, "pairs": pairs}


def same_number(found, expected, tolerance, what):
    if expected is None:
        assert found is None, what
    else:
        assert found == pytest.approx(expected, rel=tolerance, abs=tolerance), what


def same_quantity(found, expected, tolerance, what):
    same_number(found["value"], expected["value"], tolerance, what)
    assert found["plugin"] == found["value"], what
    assert found["context"] == expected["context"], what


def same_profile(found, expected, tolerance=1e-12):
    assert [f["player"] for f in found["features"]] == [f["player"] for f in expected["features"]]
    for f, e in zip(found["features"], expected["features"]):
        assert f["contexts"] == e["contexts"]
        for key in ("U", "R", "S", "pi", "Lmax", "last"):
            same_quantity(f[key], e[key], tolerance, f"{key} of {f['player']}")
        for key, value in zip(("q05", "q50", "q95"), e["gain"]):
            same_number(f["gain"][key], value, tolerance, f"{key} of {f['player']}")
    assert [p["players"] for p in found["pairs"]] == [p["players"] for p in expected["pairs"]]
    for p, e in zip(found["pairs"], expected["pairs"]):
        assert p["contexts"] == e["contexts"]
        for key in ("S", "R"):
            if e[key]["value"] is not None and e[key]["value"] <= max(1e-13, tolerance / 100) and p[key]["value"] != 0:
                e[key]["context"] = p[key]["context"]  # 0 but for rounding: any context
            same_quantity(p[key], e[key], tolerance, f"{key} of {p['players']}")
