"""`hifi reproduce e3`: the model that ships with hifi, and models of GPT-2-small's shape in the hub's format."""

import csv
import json
import re
import shutil
import sys

import numpy as np
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "models"))
import hub_folder  # noqa: E402

SMALL = ROOT / "models" / "ioi-small"


def table(folder, name):
    with open(folder / f"{name}.csv") as file:
        return list(csv.DictReader(file))


def random_gpt2(folder, width, vocabulary, words):
    """12 layers x 12 heads with random weights, as the hub stores gpt2; `words` has vocab.json and merges.txt."""
    random = np.random.default_rng(5)

    def tensor(name, shape):
        if "ln_" in name:
            return np.full(shape, 1.0 if name.endswith("weight") else 0.0)
        return random.standard_normal(shape, dtype=np.float32) * np.float32(0.1 if "wpe" in name or "wte" in name else 0.08)

    hub_folder.write(folder, hub_folder.config(12, 12, width, vocabulary, 1024 if width == 768 else 32), tensor)
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(words / name, folder / name)
    return folder


@pytest.fixture(scope="module")
def narrow(tmp_path_factory):
    return random_gpt2(tmp_path_factory.mktemp("narrow"), 48, 755, SMALL)


def test_the_model_that_ships(hifi, tmp_path):
    text = hifi("reproduce", "e3", "--quick", "--seeds", 2, "--out", "out", "--threads", 2).stdout
    out = tmp_path / "out"
    roles = {row["roles"]: row for row in table(out, "e3_roles_all")}
    movers, chain = roles["Mover within"], roles["Collector + Mover"]
    assert float(movers["R"]) > 3 * float(movers["S"]) and float(chain["S"]) > 3 * float(chain["R"])
    assert float(movers["R frozen"]) < 0.2 * float(movers["R"])
    readings = table(out, "e3_readings")
    assert [row["players"] for row in readings] == ["12", "12", "8", "8"]
    assert all(float(row["correct"]) == 1 for row in readings)
    # Identities of every head: pi is what restoring gives, R = pi - U.
    heads = table(out, "e3_heads_all")
    assert [row["head"] for row in heads] == [f"{layer}.{head}" for layer in range(3) for head in range(4)]
    for row in heads:
        assert float(row["R"]) == pytest.approx(float(row["pi"]) - float(row["U"]), abs=1e-9)
    # With k = 4 movers everything is intact.
    saturation = table(out, "e3_saturation")
    assert float(saturation[4]["plain"]) == pytest.approx(-float(readings[0]["L(all)"]), abs=1e-4)
    assert float(saturation[4]["frozen"]) == pytest.approx(float(saturation[4]["plain"]), abs=1e-4)
    # Every table names the model, and nothing of the paper's stands beside another model.
    result = json.loads((out / "e3.json").read_text())
    assert all("ioi-small" in t["title"] for t in result["tables"])
    assert not any("paper" in column for t in result["tables"] for column in t["columns"])
    assert "ioi-small" in text and "QUICK" in text


def test_same_seed_same_bytes_on_any_threads(hifi, tmp_path):
    for threads in (1, 2):
        hifi("reproduce", "e3", "--quick", "--seeds", 1, "--seed", 3, "--out", f"out{threads}", "--threads", threads, "--quiet")
    files = sorted(path.name for path in (tmp_path / "out1").iterdir())
    assert len(files) > 8
    for name in files:
        assert (tmp_path / "out1" / name).read_bytes() == (tmp_path / "out2" / name).read_bytes(), name


def check_gpt2_run(out):
    heads = table(out, "e3_heads_ten")
    assert [row["head"] for row in heads] == "9.9 9.6 10.0 7.3 7.9 8.6 8.10 5.5 3.0 4.11".split()
    assert heads[1]["U paper"] == "-1.214" and heads[1]["R paper"] == "1.368"
    roles = {row["roles"]: row for row in table(out, "e3_roles_ten")}
    assert len(roles) == 12 and sum(int(row["pairs"]) for row in roles.values()) == 45
    assert {roles[r]["S paper"] for r in roles if set(r.split(" + ")) == {"Induction", "S-Inhibition"}} == {"0.383"}
    assert len(table(out, "e3_pairs_ten")) == 45
    assert len(table(out, "e3_map_heads")) == 26 and len(table(out, "e3_map_pairs")) == 325
    result = json.loads((out / "e3.json").read_text())
    assert all("12 layers x 12 heads" in t["title"] for t in result["tables"])
    assert any("identity" in note for note in result["notes"])


def test_a_narrow_gpt2_gets_the_papers_setting(hifi, tmp_path, narrow):
    hifi("reproduce", "e3", "--model", narrow, "--quick", "--seeds", 1, "--out", "out")
    check_gpt2_run(tmp_path / "out")


@pytest.mark.full
def test_gpt2_small_in_its_exact_shape(hifi, tmp_path, shared):
    """Random weights of 500 MB, GPT-2's vocabulary, nothing else changed."""
    folder = random_gpt2(tmp_path / "gpt2", 768, 50257, shared / "data" / "gpt2")
    hifi("reproduce", "e3", "--model", folder, "--quick", "--seeds", 1, "--out", "out", timeout=1800)
    check_gpt2_run(tmp_path / "out")


def test_errors(hifi, tmp_path, narrow):
    def error(*words, code=3):
        result = hifi("reproduce", *words, code=code)
        assert result.stdout == "" and result.stderr.count("\n") <= 2
        return result.stderr

    assert "nowhere" in error("e3", "--model", "nowhere")
    assert "--model" in error("e1", "--model", narrow, code=2)
    middle = tmp_path / "middle"
    hub_folder.write(middle, hub_folder.config(6, 4, 16, 755, 32), lambda name, shape: np.zeros(shape))
    for name in ("vocab.json", "merges.txt"):
        shutil.copy(SMALL / name, middle / name)
    assert "6 layers x 4 heads" in error("e3", "--model", middle)
    (middle / "merges.txt").write_text("#version: 0.2\n")
    config = json.loads((middle / "config.json").read_text())
    (middle / "config.json").write_text(json.dumps({**config, "n_layer": 1}))
    assert re.search("splits the names", error("e3", "--model", middle))
    (narrow / "merges.txt").rename(narrow / "hidden")
    assert "merges.txt" in error("e3", "--model", narrow)
    (narrow / "hidden").rename(narrow / "merges.txt")


def test_generated_prompts_with_the_vocabulary_of_gpt2(hifi, tmp_path, shared):
    """A model of GPT-2's vocabulary takes the same task: 16 tokens, names in their places."""

    random = np.random.default_rng(0)
    config = hub_folder.config(2, 2, 16, 50257, 32)
    hub_folder.write(tmp_path / "model", config, lambda name, shape: random.normal(0, 0.1, shape))
    for name in ("vocab.json", "merges.txt"):
        (tmp_path / "model" / name).write_text((shared / "data" / "gpt2" / name).read_text())
    found = hifi("circuit", "--model", tmp_path / "model", "--task", "ioi", "--heads", "all", "--prompts", 20, "--json", "-")
    assert json.loads(found.stdout)["coverage"]["draws"] == 20
