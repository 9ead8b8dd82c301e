"""The paper's policy through the binary: visits, fallback, bounds, the run file."""

import json
import sqlite3

import numpy as np
import pytest

from conftest import write_csv
from test_search import BLOCKS, TRUTH, check_partial, plant, refused

XOR = "process:awk -F, 'NR > 1 { print ($1 + $2 + $3) % 2 }'"


@pytest.fixture
def xor(tmp_path):
    """Instances that are mostly 1, a background that is mostly 0: A3 fails for the three that matter."""
    rng = np.random.default_rng(1)
    x = (rng.random((200, 5)) < 0.9).astype(int)
    z = (rng.random((200, 5)) < 0.1).astype(int)
    names = "abcde"
    write_csv(tmp_path / "d.csv", {**dict(zip(names, x.T)), "y": x[:, :3].sum(axis=1) % 2})
    write_csv(tmp_path / "z.csv", dict(zip(names, z.T)))
    return ["explain", "--model", XOR, "--data", "d.csv", "--target", "y", "--background", "z.csv", "--policy", "paper",
            "--budget", 60_000, "--quiet"]


def test_fallback_is_told_and_logged_once(xor, hifi, tmp_path):
    plain = hifi(*xor, "--json", "-").stdout
    assert hifi(*xor, "--json", "-", "--threads", 3, "--out", "run.hifi").stdout == plain
    assert hifi("decompose", "run.hifi", "--json", "-").stdout == plain
    assert hifi("resume", "run.hifi", "--json", "-", "--quiet").stdout == plain
    found = json.loads(plain)
    told = [w["message"] for w in found["warnings"] if w["code"] == "a3_fallback"]
    assert told and all("a and b" in m or "a and c" in m or "b and c" in m for m in told)
    with sqlite3.connect(tmp_path / "run.hifi") as db:
        lines = [line for (line,) in db.execute("SELECT message FROM log")]
    assert len([line for line in lines if "A3 does not hold" in line]) == len(told)
    assert found["coverage"]["interval"] == "montecarlo"
    for name in "de":
        f = next(f for f in found["features"] if f["player"] == name)
        assert f["verdict"] == "negligible"


def test_planted_ends_are_exact_and_all_draws_can_be_compared(profile, tmp_path):
    game = plant(tmp_path / "g.json", 40, BLOCKS)
    found = profile("explain", "--model", game, "--policy", "paper", "--budget", 1000, "--quiet")
    check_partial(found)
    for kind, weight, who in BLOCKS:
        (_, _, pi, last), _ = TRUTH[kind](weight)
        for i in who:
            f = found["features"][i]
            assert f["pi"]["value"] == pytest.approx(pi, abs=1e-9) and f["last"]["value"] == pytest.approx(last, abs=1e-9)
            assert f["basis"] == "searched"
    # One draw: every visit has the same, so every two coalitions that differ by a player are a gain.
    assert found["coverage"]["exact"] is True
    assert sum(f["contexts"]["seen"] for f in found["features"]) > 900


def test_what_the_policy_refuses(hifi, tmp_path):
    game = plant(tmp_path / "g.json", 40, BLOCKS)
    words = ["explain", "--model", game, "--policy", "paper"]
    assert "--shard" in refused(hifi, 2, *words, "--shard", "1/2", "--out", "r.hifi")
    assert "--exact" in refused(hifi, 2, *words, "--exact")
    assert "82" in refused(hifi, 3, *words, "--budget", 81)
    alone = plant(tmp_path / "one.json", 1, [("unique", 0.2, (0,))])
    assert "two players" in refused(hifi, 3, "explain", "--model", alone, "--policy", "paper")


@pytest.mark.parametrize("change", ["DELETE FROM cells WHERE position = 100",
                                    "DELETE FROM cells WHERE position = (SELECT max(position) FROM cells)",
                                    "UPDATE cells SET data = zeroblob(length(data)) WHERE position = 9"])
def test_changed_run_files_are_refused(hifi, tmp_path, change):
    game = plant(tmp_path / "g.json", 40, BLOCKS)
    hifi("explain", "--model", game, "--policy", "paper", "--budget", 500, "--out", "run.hifi", "--quiet")
    with sqlite3.connect(tmp_path / "run.hifi") as db:
        assert db.execute(change).rowcount == 1
    assert "run.hifi" in refused(hifi, 3, "decompose", "run.hifi", "--json", "-")
