"""Same seed, same bytes: any threads, any batch, any sharding, any interruption."""

import json
import os
import random
import signal
import subprocess
import time

import numpy as np
import pytest

from conftest import HIFI, write_csv

SLOW = "process:sleep 0.05; awk -F, 'NR > 1 { printf \"%.17g\\n\", sin($1 * $2) + $3 * $4 - $5 / 3 }'"
SLOW_FLAGS = ["explain", "--model", SLOW, "--data", "d.csv", "--target", "y", "--exact", "--batch", "512", "--quiet"]


def write_slow_data(folder):
    rng = np.random.default_rng(3)
    write_csv(folder / "d.csv", {**dict(zip("abcde", rng.normal(size=(5, 40)))), "y": rng.normal(size=40)})


@pytest.fixture
def slow(tmp_path):
    """A hundred calls of a slow model: two seconds or more."""
    write_slow_data(tmp_path)
    return SLOW_FLAGS


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """What the slow run gives when nobody disturbs it."""
    folder = tmp_path_factory.mktemp("whole")
    write_slow_data(folder)
    return subprocess.run([HIFI, *SLOW_FLAGS, "--json", "-"], cwd=folder, capture_output=True, text=True,
                          check=True).stdout


@pytest.fixture
def trees(xgb, tmp_path):
    """2^6 coalitions x 8,000 draws of an XGBoost model."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(500, 6)).astype(np.float32)
    y = x[:, 0] + x[:, 1] * x[:, 2] + x[:, 3]
    names = [f"c{i}" for i in range(6)]
    booster = xgb.train({"max_depth": 5, "nthread": 1}, xgb.DMatrix(x, y, feature_names=names), 40)
    booster.save_model(tmp_path / "m.ubj")
    write_csv(tmp_path / "d.csv", {**dict(zip(names, x[:300].T.astype(float))), "y": y[:300]})
    return ["explain", "--model", "m.ubj", "--data", "d.csv", "--target", "y", "--budget", 64 * 8000, "--quiet"]


def test_threads_and_batches(trees, hifi):
    runs = {hifi(*trees, "--json", "-", "--threads", t, *more).stdout
            for t, more in ((1, []), (2, []), (3, []), (2, ["--batch", 1000]), (1, ["--batch", 77]), (2, ["--batch", 64]), (2, ["--batch", 16]))}
    assert len(runs) == 1


def test_run_file_and_no_run_file(trees, hifi, tmp_path):
    plain = hifi(*trees, "--json", "-").stdout
    assert hifi(*trees, "--json", "-", "--out", "run.hifi").stdout == plain
    assert hifi("decompose", "run.hifi", "--json", "-").stdout == plain
    assert hifi("resume", "run.hifi", "--json", "-", "--quiet").stdout == plain
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.csv", "m.ubj", "run.hifi"]


@pytest.mark.parametrize("flags", [[], ["--exact", "--features", "c0,c1,c2,c3"]])
@pytest.mark.parametrize("shards", [2, 4])
def test_shards(trees, hifi, tmp_path, flags, shards):
    if flags:
        trees = [w for w in trees if w not in ("--budget", 64 * 8000)] + flags
    whole = hifi(*trees, "--json", "-").stdout
    parts = [f"part{k}.hifi" for k in range(1, shards + 1)]
    for k, part in enumerate(parts, 1):
        result = hifi(*trees, "--shard", f"{k}/{shards}", "--out", part, "--threads", 1 + k % 2)
        assert result.stdout == ""
    hifi("merge", "-o", "all.hifi", *reversed(parts))
    assert hifi("decompose", "all.hifi", "--json", "-").stdout == whole


def test_shards_of_few_draws_in_clusters(hifi, tmp_path):
    """One cluster holds most rows: some blocks have no draw at all."""
    rng = np.random.default_rng(2)
    who = ["big"] * 190 + [f"p{i}" for i in range(10)]
    write_csv(tmp_path / "d.csv", {"a": rng.normal(size=200), "b": rng.normal(size=200), "who": who,
                                   "y": rng.normal(size=200)})
    flags = ["explain", "--model", "process:awk -F, 'NR > 1 { print $1 - $2 }'", "--data", "d.csv", "--target", "y",
             "--cluster", "who", "--budget", 4 * 33, "--quiet", "--seed", 4]
    whole = hifi(*flags, "--json", "-").stdout
    for k in (1, 2, 3):
        hifi(*flags, "--shard", f"{k}/3", "--out", f"{k}.hifi")
    hifi("merge", "-o", "all.hifi", "1.hifi", "2.hifi", "3.hifi")
    assert hifi("decompose", "all.hifi", "--json", "-").stdout == whole


def start(words, folder, **options):
    return subprocess.Popen([HIFI, *map(str, words)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **options)


def kill_somewhere(words, folder, rng, number=signal.SIGKILL, longest=1.2):
    """Kills the run after a random time, but not before its file exists. True if it had not ended by itself."""
    process = start(words, folder)
    while not (folder / "run.hifi").exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(rng.uniform(0.1, longest))
    process.send_signal(number)
    output, errors = process.communicate(timeout=30)
    return process.returncode, output, errors


def test_killed_and_resumed(slow, whole, hifi, tmp_path):
    rng = random.Random(time.time_ns())
    code = kill_somewhere([*slow, "--out", "run.hifi", "--threads", 2], tmp_path, rng)[0]
    assert code == -signal.SIGKILL
    kill_somewhere(["resume", "run.hifi", "--quiet", "--threads", 1], tmp_path, rng)
    assert hifi("resume", "run.hifi", "--json", "-", "--quiet").stdout == whole
    assert hifi("decompose", "run.hifi", "--json", "-").stdout == whole


def test_killed_trees(trees, hifi, tmp_path):
    whole = hifi(*trees, "--json", "-").stdout
    rng = random.Random(time.time_ns())
    for _ in range(4):
        kill_somewhere([*trees, "--out", "run.hifi"], tmp_path, rng, longest=0.6)
        result = hifi("resume", "run.hifi", "--json", "-", "--quiet")
        assert result.stdout == whole
        for path in tmp_path.glob("run.hifi*"):
            path.unlink()


def test_killed_shard(slow, whole, hifi, tmp_path):
    rng = random.Random(time.time_ns())
    kill_somewhere([*slow, "--shard", "1/2", "--out", "run.hifi"], tmp_path, rng, longest=0.9)
    hifi("resume", "run.hifi", "--quiet")
    hifi(*slow, "--shard", "2/2", "--out", "other.hifi")
    hifi("merge", "-o", "all.hifi", "run.hifi", "other.hifi")
    assert hifi("decompose", "all.hifi", "--json", "-").stdout == whole


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(slow, whole, hifi, tmp_path, number):
    code, output, errors = kill_somewhere([*slow, "--out", "run.hifi", "--json", "p.json"], tmp_path,
                                          random.Random(1), number, longest=0.5)
    assert code == 5 and output == "" and errors.count("\n") == 1
    assert "interrupted" in errors and "hifi resume run.hifi" in errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.csv", "run.hifi"]
    assert "hifi resume" in hifi("decompose", "run.hifi", code=3).stderr
    assert hifi("resume", "run.hifi", "--json", "-", "--quiet").stdout == whole


def test_interrupted_without_a_run_file(slow, tmp_path):
    process = start([*slow, "--json", "p.json"], tmp_path)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=30)
    assert process.returncode == 5 and output == "" and "--out" in errors and errors.count("\n") == 1
    assert os.listdir(tmp_path) == ["d.csv"]


def test_model_that_fails_in_the_middle(hifi, tmp_path):
    """It breaks at some call; mended, the run goes on and ends as if nothing had happened."""
    rng = np.random.default_rng(3)
    write_csv(tmp_path / "d.csv", {**dict(zip("abcd", rng.normal(size=(4, 40)))), "y": rng.normal(size=40)})
    (tmp_path / "model.sh").write_text(
        "echo x >> calls\n"
        "if [ $(wc -l < calls) -gt 15 ] && [ ! -e mended ]; then echo out of luck >&2; exit 7; fi\n"
        "awk -F, 'NR > 1 { printf \"%.17g\\n\", $1 * $2 - $3 * $4 }'\n")
    flags = ["explain", "--model", "process:sh model.sh", "--data", "d.csv", "--target", "y", "--exact", "--batch", 512,
             "--quiet"]
    failed = hifi(*flags, "--out", "run.hifi", "--json", "p.json", code=4)
    assert failed.stdout == "" and failed.stderr.count("\n") == 1
    assert "exit status 7: out of luck" in failed.stderr and "hifi resume run.hifi" in failed.stderr
    assert not (tmp_path / "p.json").exists()
    hifi("resume", "run.hifi", code=4)
    (tmp_path / "mended").touch()
    resumed = hifi("resume", "run.hifi", "--json", "-", "--quiet").stdout
    assert resumed == hifi(*flags, "--json", "-").stdout


def test_answers_that_turn_bad_in_the_middle(hifi, tmp_path):
    """A masked row, not seen by the probe, gets an answer that is no probability or no number."""
    write_csv(tmp_path / "d.csv", {"a": [0, 1], "b": [0, 1], "y": [0, 1]})

    def run(answer, code):
        model = f"process:awk -F, 'NR > 1 {{ if ($1 != $2) print {answer}; else print 0.5 }}'"
        return hifi("explain", "--model", model, "--data", "d.csv", "--target", "y", "--loss", "log", "--out", "run.hifi",
                    "--json", "p.json", "--quiet", code=code).stderr

    assert "1.5" in run(1.5, 3)
    assert os.listdir(tmp_path) == ["d.csv"]  # the run can never be finished
    assert "nan" in run('"nan"', 4)
    assert sorted(os.listdir(tmp_path)) == ["d.csv", "run.hifi"]


def test_moved_run_file(slow, hifi, tmp_path):
    hifi(*slow[:-3], "--quiet", "--out", "run.hifi")
    (tmp_path / "sub").mkdir()
    (tmp_path / "run.hifi").rename(tmp_path / "sub" / "run.hifi")
    found = json.loads(hifi("decompose", "sub/run.hifi", "--json", "-").stdout)
    assert found["coverage"]["draws"] == 1600


def test_finished_run_on_a_read_only_disk(slow, hifi, tmp_path):
    folder = tmp_path / "disc"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "tmpfs", folder]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode:
        pytest.skip("mounting needs root")
    try:
        hifi(*slow[:-3], "--quiet", "--out", "disc/run.hifi")
        plain = hifi("decompose", "disc/run.hifi", "--json", "-").stdout
        subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
        assert hifi("decompose", "disc/run.hifi", "--json", "-").stdout == plain
        assert "disc/run.hifi" in hifi("resume", "disc/run.hifi", "--json", "-", "--quiet", code=3).stderr
    finally:
        subprocess.run(["umount", folder], check=True)
