"""What absent columns are replaced by: every --background against brute force, on models of one line of awk."""

import numpy as np
import pytest

from conftest import write_csv
from oracle import LOSSES, check

FORMULA = "awk -F, 'NR > 1 { printf \"%.17g\\n\", $1 * $2 + $3 * $3 - 0.5 * $1 }'"


def predict(rows):
    return rows[:, 0] * rows[:, 1] + rows[:, 2] ** 2 - 0.5 * rows[:, 0]


class Case:
    def __init__(self, folder, x=None):
        rng = np.random.default_rng(2)
        self.x = rng.normal(size=(9, 3)) if x is None else x
        self.y = predict(self.x) + 0.1 * rng.normal(size=len(self.x))
        write_csv(folder / "d.csv", {**dict(zip("abc", self.x.T)), "y": self.y})
        self.flags = ["--model", "process:" + FORMULA, "--data", "d.csv", "--target", "y"]

    def check(self, found, z, players=None):
        check(found, predict, self.x, self.y, z, LOSSES["squared"], players, tie=1e-9)
        assert found["coverage"]["draws"] == len(self.x) * len(z) and found["coverage"]["exact"]


@pytest.fixture
def case(tmp_path):
    return Case(tmp_path)


def test_data(case, profile):
    found = profile("explain", *case.flags, "--exact")
    case.check(found, case.x)
    assert profile("explain", *case.flags, "--exact", "--background", "data") == found
    assert "itself" in found["provenance"]["background"]["description"]


def test_table(case, profile, tmp_path):
    z = np.random.default_rng(6).normal(size=(4, 3))
    write_csv(tmp_path / "z.csv", {"c": z[:, 2], "unused": z[:, 0], "a": z[:, 0], "b": z[:, 1]})
    found = profile("explain", *case.flags, "--exact", "--background", "z.csv")
    case.check(found, z)
    assert found["provenance"]["background"]["rows"] == 4
    some = profile("explain", *case.flags, "--exact", "--background", "z.csv", "--features", "b")
    case.check(some, z, {"b": [1]})


def test_mean(case, profile):
    case.check(profile("explain", *case.flags, "--exact", "--background", "mean"), case.x.mean(axis=0, keepdims=True))


def test_mean_of_the_values_that_are_there(profile, tmp_path):
    x = np.array([[1.0, 2, np.nan], [2, 4, 6], [3, 0, 2]])
    write_csv(tmp_path / "d.csv", {**dict(zip("abc", x.T)), "y": [0, 0, 1]})
    found = profile("explain", "--model", "process:" + FORMULA, "--data", "d.csv", "--target", "y", "--exact",
                    "--background", "mean", "--loss", "prediction", "--features", "c")
    # Present: c as it is, missing read as 0 by awk; absent: the mean of 6 and 2.
    assert found["features"][0]["pi"]["value"] == pytest.approx((0 + 36 + 4) / 3 - 16)


@pytest.mark.parametrize("row", [0, 3, 8])
def test_row(case, profile, row):
    case.check(profile("explain", *case.flags, "--exact", "--background", f"row:{row}"), case.x[row:row + 1])


def test_row_out_of_range(case, hifi):
    assert "0 to 8" in hifi("explain", *case.flags, "--background", "row:9", code=3).stderr
    for wrong in ("row:-1", "row:", "row:x", "row:1.5"):
        assert "row:" in hifi("explain", *case.flags, "--background", wrong, code=2).stderr


def cube(n):
    return np.array([[r >> k & 1 for k in range(n)] for r in range(2 ** n)], float)


def test_uniform_binary(profile, tmp_path):
    case = Case(tmp_path, x=cube(3)[[0, 3, 3, 5, 6]])
    case.check(profile("explain", *case.flags, "--exact", "--background", "uniform-binary"), cube(3))


def test_uniform_binary_on_the_columns_of_the_players(profile, tmp_path):
    x = np.array([[0, 0.5, 1], [1, 2.5, 0], [1, -1, 1]])
    case = Case(tmp_path, x=x)
    z = np.array([[0, 9, 0], [1, 9, 0], [0, 9, 1], [1, 9, 1.0]])
    found = profile("explain", *case.flags, "--exact", "--background", "uniform-binary", "--features", "a,c")
    case.check(found, z, {"a": [0], "c": [2]})


def test_uniform_binary_needs_binary_data(case, hifi):
    error = hifi("explain", *case.flags, "--background", "uniform-binary", code=3).stderr
    assert '"a"' in error and "data row 1" in error


def test_marginals_break_the_dependence(profile, hifi, tmp_path):
    rng = np.random.default_rng(3)
    a = rng.normal(size=600) + 2
    write_csv(tmp_path / "d.csv", {"a": a, "b": a, "y": a})
    flags = ["--model", "process:awk -F, 'NR > 1 { print $1 * $2 }'", "--data", "d.csv", "--target", "y", "--loss",
             "prediction", "--budget", 4 * 600]

    def rise(*more):  # v(all) - v(none), where v(none) is the mean of a * b over the background
        first, second = profile("explain", *flags, *more)["features"]
        return first["pi"]["value"] + second["last"]["value"]

    assert rise() == pytest.approx(0, abs=1e-4)  # awk prints six digits
    found = rise("--background", "marginals")
    assert found == pytest.approx(np.mean(a * a) - np.mean(a) ** 2, abs=0.25)
    assert rise("--background", "marginals") == found != rise("--background", "marginals", "--seed", 1)
    coverage = profile("explain", *flags, "--background", "marginals")["coverage"]
    assert coverage["exact"] is False and coverage["draws"] == 600
    everything = profile("explain", *flags[:-2], "--background", "marginals", "--budget", 4 * 600 * 600)["coverage"]
    assert everything["exact"] is False
    error = hifi("explain", *flags[:-2], "--exact", "--background", "marginals", code=3).stderr
    assert "marginals" in error and "--budget" in error


def test_whole_rounds_use_every_row_equally_often(profile, tmp_path):
    rng = np.random.default_rng(5)
    x = rng.normal(size=(40, 2))
    write_csv(tmp_path / "d.csv", dict(zip("ab", x.T)))
    flags = ["--model", "process:awk -F, 'NR > 1 { printf \"%.17g\\n\", $1 + $1 * $2 }'", "--data", "d.csv",
             "--loss", "prediction"]
    for seed in range(3):
        found = profile("explain", *flags, "--budget", 4 * 120, "--seed", seed)
        assert found["coverage"]["draws"] == 120 and found["coverage"]["exact"] is False
        for i, j in ((0, 1), (1, 0)):  # v(all) and v(none) are means over the same rows
            total = found["features"][i]["pi"]["value"] + found["features"][j]["last"]["value"]
            assert total == pytest.approx(0, abs=1e-12)


def test_a_sorted_file_is_mixed(profile, tmp_path):
    a = np.arange(1000.0)
    write_csv(tmp_path / "d.csv", {"a": a, "y": a})
    found = profile("explain", "--model", "process:awk 'NR > 1 { print $1 }'", "--data", "d.csv", "--target", "y",
                    "--budget", 2 * 200, "--loss", "absolute")
    assert found["coverage"]["draws"] == 200
    # E|a - a'| = 333; 200 draws in file order would give another number.
    assert found["features"][0]["pi"]["value"] == pytest.approx(333, rel=0.25)


def test_background_that_does_not_fit(case, hifi, tmp_path):
    write_csv(tmp_path / "z.csv", {"a": [1.0], "b": [2.0]})
    error = hifi("explain", *case.flags, "--background", "z.csv", code=3).stderr
    assert "z.csv" in error and '"c"' in error
    (tmp_path / "z.csv").write_text("a,b,c\n")
    assert "z.csv" in hifi("explain", *case.flags, "--background", "z.csv", code=3).stderr
    assert "nowhere.csv" in hifi("explain", *case.flags, "--background", "nowhere.csv", code=3).stderr
