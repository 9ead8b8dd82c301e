"""Every file and flag can be wrong: exit code, one line that names the place, nothing left behind."""

import json
import os
import re
import shutil
import sqlite3
import subprocess

import pytest
import xxhash

from conftest import HIFI, ROOT

TABLE = "coalition,loss\n00,1\n10,0.5\n01,0.5\n11,0\n"
DATA = "a,b,y\n1,2,3\n4,5,6\n"
MODEL = "process:awk 'NR > 1 { print 1 }'"
EXPLAIN = ["explain", "--model", MODEL, "--data", "d.csv", "--target", "y"]
XGBOOST = (ROOT / "tests" / "fixtures" / "xgboost" / "3.2.0" / "regression.json").read_bytes()
NAMED = (ROOT / "tests" / "fixtures" / "xgboost" / "3.2.0" / "names.json").read_bytes()
UBJ = (ROOT / "tests" / "fixtures" / "xgboost" / "3.2.0" / "regression.ubj").read_bytes()


def losses(text):
    return {"t.csv": text}


def model(content, name="m.json"):
    return ["explain", "--model", name, "--data", "d.csv", "--target", "y"], {name: content}


USAGE = {
    "no verb": ([], "subcommand|verb"),
    "unknown verb": (["frobnicate"], "frobnicate"),
    "unknown flag": (["decompose", "t.csv", "--frob"], "--frob"),
    "misspelt flag": (["explain", "--modle", "m.json"], "--modle"),
    "flag of later": ([*EXPLAIN, "--frob", "5m"], "no flag --frob"),
    "flag without value": (["decompose", "t.csv", "--players"], "--players"),
    "no table": (["decompose"], "vocabulary|TABLE"),
    "no model": (["explain", "--data", "d.csv", "--target", "y"], "--model"),
    "no data": (["explain", "--model", MODEL], "--data"),
    "no target": (["explain", "--model", MODEL, "--data", "d.csv"], "--target"),
    "budget -1": ([*EXPLAIN, "--budget", "-1"], "--budget"),
    "budget 1.5": ([*EXPLAIN, "--budget", "1.5"], "--budget"),
    "budget many": ([*EXPLAIN, "--budget", "many"], "--budget"),
    "budget 1e6x": ([*EXPLAIN, "--budget", "1000x"], "--budget"),
    "budget beyond 64 bits": ([*EXPLAIN, "--budget", "99999999999999999999999"], "--budget"),
    "exact with budget": ([*EXPLAIN, "--exact", "--budget", "1000"], "--budget|--exact"),
    "features with groups": ([*EXPLAIN, "--features", "a", "--groups", "g.json"], "--features|--groups"),
    "quiet with verbose": ([*EXPLAIN, "--quiet", "--verbose"], "--quiet|--verbose"),
    "unknown loss": ([*EXPLAIN, "--loss", "hinge"], "hinge"),
    "unknown link": ([*EXPLAIN, "--link", "probit"], "probit"),
    "unknown policy": ([*EXPLAIN, "--policy", "greedy"], "greedy"),
    "unknown interval": ([*EXPLAIN, "--interval", "wide"], "wide"),
    "confidence 95": ([*EXPLAIN, "--confidence", "95"], "--confidence"),
    "confidence nan": ([*EXPLAIN, "--confidence", "nan"], "--confidence"),
    "seed -1": ([*EXPLAIN, "--seed", "-1"], "--seed"),
    "seed x": ([*EXPLAIN, "--seed", "x"], "--seed"),
    "threads 0": ([*EXPLAIN, "--threads", "0"], "--threads"),
    "threads -2": ([*EXPLAIN, "--threads", "-2"], "--threads"),
    "batch 0": ([*EXPLAIN, "--batch", "0"], "--batch"),
    "batch -5": ([*EXPLAIN, "--batch", "-5"], "--batch"),
    "max-memory words": ([*EXPLAIN, "--max-memory", "lots"], "--max-memory"),
    "max-memory -1G": ([*EXPLAIN, "--max-memory", "-1G"], "--max-memory"),
    "shard 0/4": ([*EXPLAIN, "--shard", "0/4", "--out", "r.hifi"], "--shard"),
    "shard 5/4": ([*EXPLAIN, "--shard", "5/4", "--out", "r.hifi"], "--shard"),
    "shard 1": ([*EXPLAIN, "--shard", "1", "--out", "r.hifi"], "--shard"),
    "shard 1/4x": ([*EXPLAIN, "--shard", "1/4x", "--out", "r.hifi"], "--shard"),
    "shard without out": ([*EXPLAIN, "--shard", "1/2"], "--out"),
    "pairs some": ([*EXPLAIN, "--pairs", "some"], "--pairs"),
    "pairs top:-1": ([*EXPLAIN, "--pairs", "top:-1", "--out", "r.hifi"], "--pairs"),
    "players twice": (["decompose", "t.csv", "--players", "a,a"], "--players"),
    "players empty name": (["decompose", "t.csv", "--players", "a,"], "--players"),
    "features empty name": ([*EXPLAIN, "--features", "a,,b"], "--features"),
    "features twice": ([*EXPLAIN, "--features", "a,a"], "a"),
    "merge without parts": (["merge", "-o", "all.hifi"], "parts"),
    "merge without -o": (["merge", "p.hifi"], "-o|--out"),
    "resume without file": (["resume"], "run"),
    "extra word": (["decompose", "t.csv", "more"], "more"),
}

INPUT = {
    # tables of losses
    "missing": (["decompose", "nowhere.csv"], {}, "nowhere.csv.*[Nn]o such file"),
    "empty": (["decompose", "t.csv"], losses(""), "t.csv.*empty"),
    "directory": (["decompose", "."], {}, r"\..*directory"),
    "only a header": (["decompose", "t.csv"], losses("coalition,loss\n"), "t.csv.*no rows"),
    "no coalition column": (["decompose", "t.csv"], losses("c,loss\n0,1\n"), "t.csv.*\"coalition\""),
    "no loss column": (["decompose", "t.csv"], losses("coalition,l\n0,1\n"), "t.csv.*\"loss\""),
    "duplicate coalition": (["decompose", "t.csv"], losses(TABLE + "10,1\n"), r"t.csv.*row 5 \(line 6\).*10.*row 2"),
    "unequal length": (["decompose", "t.csv"], losses(TABLE + "110,1\n"), r"t.csv.*row 5 \(line 6\).*110"),
    "other characters": (["decompose", "t.csv"], losses("coalition,loss\n0a,1\n"), r"row 1 \(line 2\).*0a"),
    "no coalition": (["decompose", "t.csv"], losses("coalition,loss\n0,1\n,1\n"), r"row 2 \(line 3\)"),
    "nan loss": (["decompose", "t.csv"], losses("coalition,loss\n0,1\n1,nan\n"), r"\"loss\".*row 2 \(line 3\)"),
    "no loss": (["decompose", "t.csv"], losses("coalition,loss\n0,1\n1,\n"), r"\"loss\".*row 2 \(line 3\)"),
    "infinite loss": (["decompose", "t.csv"], losses("coalition,loss\n0,1\n1,-inf\n"), r"\"loss\".*row 2.*infinite"),
    "text loss": (["decompose", "t.csv"], losses("coalition,loss\n0,1\n1,low\n"), r"\"loss\".*row 2.*low"),
    "k of 0": (["decompose", "t.csv"], losses("coalition,loss,k\n0,1,1\n1,0,0\n"), r"\"k\".*row 2"),
    "negative var": (["decompose", "t.csv"], losses("coalition,loss,var\n0,1,1\n1,0,-1\n"), r"\"var\".*row 2"),
    "short row": (["decompose", "t.csv"], losses("coalition,loss\n0,1\n1\n"), "t.csv.*line 3|t.csv.*row 2"),
    "long row": (["decompose", "t.csv"], losses("coalition,loss\n0,1\n1,2,3\n"), "t.csv.*line 3|t.csv.*row 2"),
    "open quote": (["decompose", "t.csv"], losses('coalition,loss\n"0,1\n'), "t.csv"),
    "binary noise": (["decompose", "t.csv"], losses(bytes(range(256))), "t.csv"),
    "truncated parquet": (["decompose", "t.parquet"], {"t.parquet": b"PAR1\x15\x04\x15"}, "t.parquet"),
    "no parquet": (["decompose", "t.parquet"], {"t.parquet": TABLE}, "t.parquet.*Parquet"),
    "player list of another length": (["decompose", "t.csv", "--players", "a,b,c"], losses(TABLE), "--players.*3.*2"),
    "no such pair": (["decompose", "t.csv", "--pairs", "with:x9"], losses(TABLE), "x9.*x1, x2"),
    "json into a missing folder": (["decompose", "t.csv", "--json", "no/p.json"], losses(TABLE), "no/p.json"),
    "json is a folder": (["decompose", "t.csv", "--json", "."], losses(TABLE), "directory"),
    "csv into a missing folder": (["decompose", "t.csv", "--csv", "no"], losses(TABLE), "no"),
    "csv is a file": (["decompose", "t.csv", "--csv", "t.csv"], losses(TABLE), "t.csv"),
    # data
    "missing data": (["explain", "--model", MODEL, "--data", "no.csv", "--target", "y"], {}, "no.csv"),
    "empty data": (EXPLAIN, {"d.csv": ""}, "d.csv.*empty"),
    "data without rows": (EXPLAIN, {"d.csv": "a,b,y\n"}, "d.csv.*no rows"),
    "data is a folder": (["explain", "--model", MODEL, "--data", ".", "--target", "y"], {}, "directory"),
    "unknown target": ([*EXPLAIN[:-1], "z"], {"d.csv": DATA}, "d.csv.*\"z\".*\"a\", \"b\", \"y\""),
    "text truth": (EXPLAIN, {"d.csv": "a,y\n1,x\n"}, r"d.csv.*\"y\".*row 1 \(line 2\)"),
    "missing truth": (EXPLAIN, {"d.csv": "a,y\n1,1\n2,\n"}, r"d.csv.*\"y\".*row 2 \(line 3\)"),
    "no column but the target": (EXPLAIN, {"d.csv": "y\n1\n"}, "d.csv.*no column"),
    "two columns of one name": (EXPLAIN, {"d.csv": "a,a,y\n1,2,3\n"}, "d.csv.*\"a\""),
    "integer beyond 2^53": (EXPLAIN, {"d.csv": "a,y\n9007199254740993,1\n"}, "d.csv.*\"a\".*9007199254740993"),
    "names that are not UTF-8": (EXPLAIN, {"d.csv": b"caf\xe9,y\n1,1\n"}, "d.csv"),
    "text that is not UTF-8": (EXPLAIN, {"d.csv": b"a,y\ncaf\xe9,1\n"}, "d.csv"),
    "unknown cluster": ([*EXPLAIN, "--cluster", "who"], {"d.csv": DATA}, "who"),
    "unknown feature": ([*EXPLAIN, "--features", "a,zz"], {"d.csv": DATA}, "zz.*a, b"),
    "target as feature": ([*EXPLAIN, "--features", "a,y"], {"d.csv": DATA}, "y"),
    "unknown player of pairs": ([*EXPLAIN, "--pairs", "with:zz", "--out", "r.hifi"], {"d.csv": DATA}, "zz.*a, b"),
    "row:99": ([*EXPLAIN, "--background", "row:99"], {"d.csv": DATA}, "row:99.*0 to 1"),
    "missing background": ([*EXPLAIN, "--background", "rows:3"], {"d.csv": DATA}, "rows:3.*row:K"),
    "target that the model reads": (["explain", "--model", "m.json", "--data", "d.csv", "--target", "colour"],
                                    {"d.csv": "size,colour,shelf,farbe,b\n1,red,20,rot,1\n", "m.json": NAMED},
                                    "--target colour.*m.json"),
    "JSON as a table": (["decompose", "g.json"], {"g.json": '{"a": 1}'}, "g.json.*JSON"),
    "run file as a table": (["explain", "--model", MODEL, "--data", "r.hifi", "--target", "y"],
                            {"r.hifi": "SQLite format 3\0"}, "r.hifi.*run file"),
    # groups
    "no groups file": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA}, "g.json"),
    "groups are no JSON": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": "{"}, "g.json.*JSON"),
    "groups are a list": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": '["a"]'}, "g.json"),
    "group is no list": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": '{"g":"a"}'}, "g.json.*\"g\""),
    "group of numbers": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": '{"g":[1]}'}, "g.json.*\"g\""),
    "empty group": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": '{"g":[]}'}, "g.json.*\"g\""),
    "no groups": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": "{}"}, "g.json"),
    "column in two groups": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": '{"g":["a"],"h":["b","a"]}'},
                             "g.json.*\"a\".*\"g\".*\"h\""),
    "column twice in a group": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": '{"g":["a","a"]}'}, "\"a\""),
    "unknown column in a group": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": '{"g":["q"]}'},
                                  "g.json.*\"q\""),
    "group named twice": ([*EXPLAIN, "--groups", "g.json"], {"d.csv": DATA, "g.json": '{"g":["a"],"g":["b"]}'}, "\"g\""),
    # sizes
    "too many players for --exact": ([*EXPLAIN, "--exact"], {"d.csv": ",".join(f"c{i}" for i in range(25)) + ",y\n" +
                                                             "1," * 25 + "1\n"}, "25 players.*evaluations.*GB|25 pl.*memory"),
    "above max-memory": ([*EXPLAIN, "--exact", "--max-memory", "1M"], {"d.csv": DATA}, "--max-memory"),
    "budget too small": ([*EXPLAIN, "--budget", "15"], {"d.csv": DATA}, "16"),
    "more shards than blocks": ([*EXPLAIN, "--exact", "--shard", "1/3", "--out", "r.hifi"], {"d.csv": DATA}, "--shard"),
    # models
    "missing model": (*model(b"", "x.json")[:1], {"d.csv": DATA}, "x.json"),
    "model is a folder": (["explain", "--model", ".", "--data", "d.csv", "--target", "y"], {}, "directory"),
    "empty model": (*model(""), "m.json.*empty"),
    "unknown model": (*model("hello"), "m.json.*XGBoost"),
    "JSON but no model": (*model('{"a": 1}'), "m.json"),
    "truncated JSON": (*model(XGBOOST[: len(XGBOOST) // 2]), "m.json"),
    "truncated UBJ": (*model(UBJ[: len(UBJ) // 2], "m.ubj"), "m.ubj"),
    "model of another width": (*model(XGBOOST), "d.csv.*2 columns.*m.json.*6.*--features"),
    # run files
    "missing run": (["resume", "no.hifi"], {}, "no.hifi"),
    "run is a folder": (["resume", "."], {}, "directory"),
    "run is a table": (["resume", "t.csv"], losses(TABLE), "t.csv.*run file"),
    "run is empty": (["resume", "r.hifi"], {"r.hifi": ""}, "r.hifi"),
    "merge of tables": (["merge", "-o", "all.hifi", "t.csv"], losses(TABLE), "t.csv"),
    "merge of nothing": (["merge", "-o", "all.hifi", "no.hifi"], {}, "no.hifi"),
    "out exists": ([*EXPLAIN, "--out", "d.csv"], {"d.csv": DATA}, "d.csv.*exists"),
    "out in a missing folder": ([*EXPLAIN, "--out", "no/r.hifi"], {"d.csv": DATA}, "no/r.hifi"),
}


def refused(folder, command, files, code, pattern):
    for name, content in {"t.csv": TABLE, "d.csv": DATA, **files}.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    result = subprocess.run([HIFI, *command], cwd=folder, capture_output=True, timeout=60)
    error = result.stderr.decode(errors="replace")
    assert result.returncode == code, error
    assert result.stdout == b""
    assert error.startswith("hifi: ") and error.endswith("\n") and error.count("\n") == 1, error
    assert re.search(pattern, error), error
    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before


@pytest.mark.parametrize("name", USAGE)
def test_bad_command_line(tmp_path, name):
    command, pattern = USAGE[name]
    refused(tmp_path, command, {}, 2, pattern)


@pytest.mark.parametrize("name", INPUT)
def test_bad_file(tmp_path, name):
    command, files, pattern = INPUT[name]
    refused(tmp_path, command, files, 3, pattern)


@pytest.mark.parametrize("name", ["demo", "explain", "plan", "resume", "merge", "decompose"])
def test_help_and_version(hifi, name):
    text = hifi(name, "--help")
    assert "Example" in text.stdout and text.stderr == ""
    assert re.fullmatch(r"hifi \d+\.\d+\.\d+\n", hifi("--version").stdout)


def test_unreadable(hifi, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "t.csv").chmod(0)
    assert "Permission" in hifi("decompose", "t.csv", code=3).stderr


def test_standard_output_is_full(hifi, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    for flags in (["--json", "-"], []):
        with open("/dev/full", "w") as full:
            result = subprocess.run([HIFI, "decompose", "t.csv", *flags], cwd=tmp_path, stdout=full,
                                    stderr=subprocess.PIPE, text=True)
        assert result.returncode == 3 and "standard output" in result.stderr
    assert hifi("decompose", "t.csv", "--json", "/dev/full", code=3).stderr.count("\n") == 1


def test_reader_of_standard_output_goes_away(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    command = f"'{HIFI}' decompose t.csv --json - 2>err.txt | true; cat err.txt"
    assert subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True).returncode == 0


# Run files that are not what they should be.

@pytest.fixture
def finished(hifi, tmp_path):
    (tmp_path / "d.csv").write_text("a,b,y\n" + "".join(f"{i},{i * i % 7},{i % 3}\n" for i in range(8)))
    flags = ["explain", "--model", "process:awk -F, 'NR > 1 { print $1 - $2 }'", "--data", "d.csv", "--target", "y",
             "--exact", "--quiet"]
    hifi(*flags, "--out", "run.hifi")
    return flags


def one_line(result, *words):
    assert result.stdout == "" and result.stderr.count("\n") == 1
    for word in words:
        assert re.search(word, result.stderr), result.stderr


def test_run_of_a_newer_version(finished, hifi, tmp_path):
    with sqlite3.connect(tmp_path / "run.hifi") as db:
        db.execute("PRAGMA user_version = 99")
    db.close()
    for verb in (["resume", "run.hifi"], ["decompose", "run.hifi"], ["merge", "-o", "all.hifi", "run.hifi"]):
        one_line(hifi(*verb, code=3), "run.hifi", "99", "newer")
    assert not (tmp_path / "all.hifi").exists()


def test_damaged_runs(finished, hifi, tmp_path):
    run = (tmp_path / "run.hifi").read_bytes()
    for damage in (run[:100], run[: len(run) // 2], run[:1000] + b"\xff" * 3000 + run[4000:], run[:16] + b"\0" * 84 + run[100:]):
        (tmp_path / "run.hifi").write_bytes(damage)
        for verb in ("resume", "decompose"):
            one_line(hifi(verb, "run.hifi", code=3), "run.hifi")


def test_database_of_somebody_else(hifi, tmp_path):
    with sqlite3.connect(tmp_path / "other.hifi") as db:
        db.execute("CREATE TABLE t (x)")
    db.close()
    one_line(hifi("resume", "other.hifi", code=3), "other.hifi", "not a run file")
    one_line(hifi("decompose", "other.hifi", code=3), "other.hifi", "not a run file")


def change_text(path, key, change):
    with sqlite3.connect(path) as db:
        (text,) = db.execute("SELECT value FROM texts WHERE key = ?", (key,)).fetchone()
        changed = change(text)
        digest = xxhash.xxh3_128_hexdigest(changed.encode())  # a stranger can make a matching hash too
        db.execute("UPDATE texts SET value = ?, hash = ? WHERE key = ?", (changed, digest, key))
    db.close()


@pytest.mark.parametrize("key, change", [
    ("plan", lambda t: "{}"), ("plan", lambda t: "no"), ("plan", lambda t: t[:-1]), ("plan", lambda t: "[]"),
    ("plan", lambda t: t.replace('"draws":64', '"draws":-1')),
    ("plan", lambda t: t.replace('"draws":64', '"draws":"many"')),
    ("plan", lambda t: t.replace('"blocks":[8,8,0]', '"blocks":[8,8000000,0]')),
    ("plan", lambda t: t.replace('"blocks":[8,8,0]', '"blocks":[8,9,0]')),
    ("plan", lambda t: t.replace('"players":["a","b"]', '"players":[]')),
    ("plan", lambda t: t.replace('"players":["a","b"]', '"players":["a","b","c"]')),
    ("plan", lambda t: t.replace('"shard":[1,1]', '"shard":[2,1]')),
    ("position", lambda t: "{}"), ("position", lambda t: '{"block":99,"draws":0}'),
    ("position", lambda t: '{"block":-1,"draws":0}'), ("position", lambda t: '{"block":"x","draws":0}')])
def test_runs_with_a_broken_plan(finished, hifi, tmp_path, key, change):
    change_text(tmp_path / "run.hifi", key, change)
    one_line(hifi("decompose", "run.hifi", code=3), "run.hifi")
    one_line(hifi("resume", "run.hifi", code=3), "run.hifi")


def test_run_without_its_arrays(finished, hifi, tmp_path):
    with sqlite3.connect(tmp_path / "run.hifi") as db:
        db.execute("DELETE FROM arrays WHERE block = 3")
    db.close()
    one_line(hifi("decompose", "run.hifi", code=3), "run.hifi", "missing")
    one_line(hifi("resume", "run.hifi", code=3), "run.hifi", "missing")


def unfinish(path):
    change_text(path, "position", lambda text: '{"block":0,"draws":0}')
    with sqlite3.connect(path) as db:
        db.execute("DELETE FROM arrays")
    db.close()


def test_run_that_is_not_finished(finished, hifi, tmp_path):
    unfinish(tmp_path / "run.hifi")
    one_line(hifi("decompose", "run.hifi", code=3), "not finished", "hifi resume run.hifi")


def test_resume_with_other_data(finished, hifi, tmp_path):
    unfinish(tmp_path / "run.hifi")
    data = (tmp_path / "d.csv").read_text()
    (tmp_path / "d.csv").write_text(data.replace("3,2,0", "3,2,1"))
    one_line(hifi("resume", "run.hifi", code=3, input=""), "run.hifi", "data")
    (tmp_path / "d.csv").write_text(data)
    hifi("resume", "run.hifi", "--quiet")


def test_shard_has_no_profile(finished, hifi, tmp_path):
    for k in (1, 2):
        hifi(*finished, "--shard", f"{k}/2", "--out", f"{k}.hifi")
    one_line(hifi("decompose", "1.hifi", code=3), "1.hifi", "shard 1/2", "merge")
    one_line(hifi("merge", "-o", "all.hifi", "1.hifi", code=3), "shard 2/2", "missing")
    one_line(hifi("merge", "-o", "all.hifi", "1.hifi", "1.hifi", code=3), "both shard 1/2")
    one_line(hifi("merge", "-o", "all.hifi", "1.hifi", "run.hifi", code=3), "1.hifi", "run.hifi")
    one_line(hifi("merge", "-o", "all.hifi", "run.hifi", code=3), "not a shard")
    unfinish_shard = '{"block":0,"draws":0}'
    shutil.copy(tmp_path / "1.hifi", tmp_path / "half.hifi")
    change_text(tmp_path / "half.hifi", "position", lambda text: unfinish_shard)
    one_line(hifi("merge", "-o", "all.hifi", "half.hifi", "2.hifi", code=3), "half.hifi", "not finished")
    assert not (tmp_path / "all.hifi").exists()
    hifi(*finished, "--shard", "2/2", "--out", "other.hifi", "--seed", 9)
    one_line(hifi("merge", "-o", "all.hifi", "1.hifi", "other.hifi", code=3), "1.hifi", "other.hifi", "seed: 0 and 9")
    hifi(*finished, "--shard", "2/3", "--out", "third.hifi")
    one_line(hifi("merge", "-o", "all.hifi", "1.hifi", "third.hifi", code=3), "2 and 3")
    hifi("merge", "-o", "all.hifi", "2.hifi", "1.hifi")
    one_line(hifi("merge", "-o", "all.hifi", "1.hifi", "2.hifi", code=3), "all.hifi", "exists")
    assert not list(tmp_path.glob("*.part*")) and not list(tmp_path.glob("*-wal"))


def test_players_of_a_run_file(finished, hifi, profile):
    assert profile("decompose", "run.hifi", "--players", "a,b")["players"] == ["a", "b"]
    hifi("decompose", "run.hifi", "--players", "a,c", code=3)


def test_run_file_in_use(finished, hifi, tmp_path):
    unfinish(tmp_path / "run.hifi")
    db = sqlite3.connect(tmp_path / "run.hifi")
    db.execute("BEGIN EXCLUSIVE")
    one_line(hifi("resume", "run.hifi", code=3), "run.hifi", "another process")
    db.close()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 1 MB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder],
                                           capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    yield folder
    subprocess.run(["umount", folder], check=True)


def fill(folder, free):
    with open(folder / "filler", "wb") as file:
        file.write(b"x" * (1024 * 1024 - free))


def test_full_disk(small_disk, hifi, tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    fill(small_disk, 0)
    for flags in (["--json", "disk/p.json"], ["--csv", "disk"]):
        one_line(hifi("decompose", "t.csv", "--quiet", *flags, code=3), "disk", "No space left")
        assert os.listdir(small_disk) == ["filler"]


def test_full_disk_leaves_no_half_of_the_outputs(small_disk, hifi, tmp_path):
    (tmp_path / "t.csv").write_text("coalition,loss\n" + "".join(f"{i:010b},{i / 7!r}\n" for i in range(1024)))
    fill(small_disk, 8192)  # features.csv fits, pairs.csv does not
    one_line(hifi("decompose", "t.csv", "--quiet", "--csv", "disk", code=3), "disk", "No space left")
    assert os.listdir(small_disk) == ["filler"]


def test_disk_too_full_for_a_run_file(small_disk, hifi, tmp_path):
    (tmp_path / "d.csv").write_text(DATA)
    fill(small_disk, 0)
    one_line(hifi(*EXPLAIN, "--quiet", "--out", "disk/run.hifi", code=3), "disk/run.hifi", "No space|full")
    assert os.listdir(small_disk) == ["filler"]


def test_full_disk_keeps_the_run(small_disk, hifi, tmp_path):
    columns = ",".join(f"c{i}" for i in range(9))
    rows = "".join(",".join(str((i * 7 + c * c) % 11) for c in range(9)) + f",{i % 5}\n" for i in range(64))
    (tmp_path / "d.csv").write_text(f"{columns},y\n{rows}")
    flags = ["explain", "--model", "process:awk -F, 'NR > 1 { print $1 * $2 + $3 }'", "--data", "d.csv", "--target", "y",
             "--exact", "--quiet"]
    fill(small_disk, 200_000)  # 2^9 x 65 blocks are 266 kB
    one_line(hifi(*flags, "--out", "disk/run.hifi", code=5), "disk/run.hifi", "full", "hifi resume disk/run.hifi")
    os.remove(small_disk / "filler")
    resumed = hifi("resume", "disk/run.hifi", "--json", "-", "--quiet").stdout
    assert json.loads(resumed)["features"] == json.loads(hifi(*flags, "--json", "-").stdout)["features"]
