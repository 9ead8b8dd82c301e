"""hifi circuit at the command line, on random models: what it writes, same bytes, bad input."""

import itertools
import json
import signal
import subprocess
import sys
import time

import gpt2_folders
import numpy as np
import pytest
from conftest import HIFI, ROOT

CONFIG = dict(gpt2_folders.DEFAULTS, n_layer=3, n_head=2, n_embd=16, n_positions=12, vocab_size=40)


def make_task(prompts=24, reference=6, length=7, **more):
    random = np.random.RandomState(3)

    def prompt():
        return {"tokens": random.randint(0, 40, length).tolist(), "answer": int(random.randint(40)),
                "distractor": int(random.randint(40))}

    return {"schema": "hifi.task/1", "prompts": [prompt() for _ in range(prompts)],
            "reference": [{"tokens": random.randint(0, 40, length).tolist()} for _ in range(reference)],
            "roles": {"Early": ["0.0", "0.1"], "Late": ["2.0", "2.1"]}, **more}


@pytest.fixture
def model(tmp_path):
    gpt2_folders.write_folder(tmp_path / "model", CONFIG, gpt2_folders.weights_of(CONFIG, size=0.5))
    (tmp_path / "task.json").write_text(json.dumps(make_task()))
    return tmp_path


SMALL = str(ROOT / "models" / "ioi-small")
CALL = ["circuit", "--model", "model", "--task", "task.json"]


def test_the_circuit_block_says_what_the_profile_says(model, profile):
    found = profile(*CALL, "--heads", "0.0,0.1,1.1,2.0,2.1", "--exact")
    assert found["players"] == ["0.0", "0.1", "1.1", "2.0", "2.1"]
    assert found["loss"] == found["measure"] == "logit-difference"
    assert found["coverage"]["exhaustive"] and found["coverage"]["exact"] and found["coverage"]["draws"] == 24
    assert found["coverage"]["interval"] == "population"
    circuit = found["circuit"]
    for feature in found["features"]:
        assert circuit["restore"][feature["player"]] == feature["pi"]["value"]
        assert circuit["ablate"][feature["player"]] == feature["last"]["value"]
    role = {"0.0": "Early", "0.1": "Early", "2.0": "Late", "2.1": "Late"}
    blocks = {}
    for pair in found["pairs"]:
        roles = tuple(sorted(role[p] for p in pair["players"] if p in role))
        if len(roles) == 2:
            blocks.setdefault(roles, []).append((pair["S"]["value"], pair["R"]["value"]))
    assert {tuple(block["roles"]) for block in circuit["role_pairs"]} == set(blocks)
    for block in circuit["role_pairs"]:
        values = blocks[tuple(block["roles"])]
        assert block["pairs"] == len(values)
        assert np.isclose(block["S"], np.mean([v[0] for v in values]))
        assert np.isclose(block["R"], np.mean([v[1] for v in values]))


def test_defaults_and_groups(model, profile, hifi):
    assert profile(*CALL)["players"] == ["0.0", "0.1", "2.0", "2.1"]  # the heads that have a role
    assert len(profile(*CALL, "--heads", "all")["players"]) == 6
    (model / "g.json").write_text(json.dumps({"first": ["0.0", "0.1"], "rest": ["1.0", "2.1"]}))
    found = profile(*CALL, "--groups", "g.json")
    assert list(found["circuit"]["restore"]) == found["players"] == ["first", "rest"]
    text = hifi(*CALL, "--heads", "0.0,2.1", "--quiet", "--json", "x.json").stdout
    assert text == ""
    text = hifi(*CALL, "--heads", "0.0,0.1,2.1", "--out", "run.hifi").stdout
    assert "Spearman" in text and "every prompt: exact" in text and "these prompts" in text and "rows" not in text
    assert "absent heads give means over 6 reference prompts, by position" in text
    assert hifi("decompose", "run.hifi").stdout == text, "a run file tells the same without its model"
    assert "every pair of prompts" in hifi(*CALL, "--heads", "0.0", "--ablation", "resample", "--exact").stdout
    uneven = make_task()
    uneven["reference"][0]["tokens"].append(1)
    (model / "uneven.json").write_text(json.dumps(uneven))
    text = hifi("circuit", "--model", "model", "--task", "uneven.json", "--groups", "g.json", "--freeze-layernorm").stdout
    assert "all positions together: lengths differ" in text and "scale of the final LayerNorm" in text and "one player" in text


@pytest.mark.parametrize("flags", [["--ablation", "zero"], ["--ablation", "resample"], ["--measure", "kl"],
                                   ["--measure", "probability"], ["--measure", "log-probability"],
                                   ["--freeze-layernorm"]])
def test_plain_passes_give_the_same(model, profile, flags):
    fast = profile(*CALL, "--heads", "0.1,1.0,2.1", *flags)
    plain = profile(*CALL, "--heads", "0.1,1.0,2.1", *flags, "--no-fast-lattice")
    for one, other in zip(fast["features"], plain["features"]):
        for key in ("U", "Lmax", "pi", "last"):
            assert one[key]["value"] == pytest.approx(other[key]["value"], abs=1e-5)
    base = profile(*CALL, "--heads", "0.1,1.0,2.1")
    assert fast["features"] != base["features"], "the flag changes something"


def test_same_bytes_for_threads_shards_and_resume(model, hifi):
    call = [*CALL, "--heads", "all", "--seed", "5"]

    def text(*words):
        hifi(*call, *words, "--quiet", "--json", "p.json")
        return (model / "p.json").read_text()

    whole = text("--threads", "1")
    assert text("--threads", "3") == whole
    for k in (1, 2, 3):
        hifi(*call, "--shard", f"{k}/3", "--out", f"{k}.hifi", "--quiet")
    hifi("merge", "-o", "all.hifi", "1.hifi", "2.hifi", "3.hifi")
    hifi("decompose", "all.hifi", "--quiet", "--json", "merged.json")
    merged, undivided = json.loads((model / "merged.json").read_text()), json.loads(whole)
    for key in ("features", "pairs", "circuit"):
        assert merged[key] == undivided[key]
    hifi(*call, "--out", "kept.hifi", "--quiet", "--json", "x.json")
    hifi("resume", "kept.hifi", "--quiet", "--json", "again.json")
    assert (model / "again.json").read_text() == whole


def test_a_search_where_sets_are_too_many(model, profile):
    found = profile(*CALL, "--heads", "all", "--budget", 63 * 24 + 24 * 2)  # 2^6 x 24 would not fit
    wide = dict(CONFIG, n_layer=6, n_head=4)
    gpt2_folders.write_folder(model / "wide", wide, gpt2_folders.weights_of(wide, size=0.5))
    found = profile("circuit", "--model", "wide", "--task", "task.json", "--heads", "all", "--budget", 20_000)
    assert len(found["players"]) == 24 and not found["coverage"]["exhaustive"]
    assert found["features"][0]["basis"] == "searched"
    assert set(found["circuit"]["restore"]) == set(found["players"])


def test_other_sets_of_heads(model, profile, hifi):
    """Each check is what an audit of the other set says."""
    task = make_task()
    task["roles"] = {"A": ["0.0", "1.0", "1.1"], "B": ["2.0", "2.1"]}
    (model / "task.json").write_text(json.dumps(task))
    found = profile(*CALL, "--heads", "0.0,1.0,2.0,2.1", "--check-subsets")
    checks = {(c["left_out"], c["instead"]): c for c in found["subset_checks"]}
    assert set(checks) == {("0.0", None), ("1.0", None), ("2.0", None), ("2.1", None), ("0.0", "1.1"), ("1.0", "1.1")}

    def balance(p):
        return {frozenset(pair["players"]): pair["S"]["value"] - pair["R"]["value"] for pair in p["pairs"]}

    def ranks(values):
        return np.argsort(np.argsort(values))

    for (out, instead), heads in {("2.0", None): "0.0,1.0,2.1", ("0.0", "1.1"): "1.1,1.0,2.0,2.1"}.items():
        other = profile(*CALL, "--heads", heads)
        ours, theirs = balance(found), balance(other)
        both = [key for key in ours if key in theirs]
        assert len(both) == 3
        x, y = [ours[k] for k in both], [theirs[k] for k in both]
        assert checks[out, instead]["same_sign"] == pytest.approx(np.mean([(a > 0) == (b > 0) for a, b in zip(x, y)]))
        assert checks[out, instead]["spearman_pairs"] == pytest.approx(np.corrcoef(ranks(x), ranks(y))[0, 1])
    assert "again without" in hifi(*CALL, "--heads", "0.0,1.0,2.0", "--check-subsets").stderr
    refused(hifi, *CALL, "--groups", "g.json", "--check-subsets", code=2)


def test_intervals_over_seeds(profile, hifi):
    call = ["circuit", "--model", SMALL, "--task", "ioi", "--prompts", "6", "--heads", "1.0,1.1,2.0"]
    found = profile(*call, "--seeds", "3", "--seed", "5")
    alone = [profile(*call, "--seed", str(seed)) for seed in (5, 6, 7)]
    assert found["seeds"]["seeds"] == [5, 6, 7] and found["features"] == alone[0]["features"]
    for i, row in enumerate(found["seeds"]["features"]):
        for quantity in ("U", "R", "S", "Lmax"):
            values = [p["features"][i][quantity]["value"] for p in alone]
            half = 4.302652729911275 * np.std(values, ddof=1) / np.sqrt(3)  # Student's t, 2 degrees of freedom
            assert row[quantity]["mean"] == pytest.approx(np.mean(values), abs=1e-12)
            assert row[quantity]["low"] == pytest.approx(np.mean(values) - half, abs=1e-9)
            assert row[quantity]["high"] == pytest.approx(np.mean(values) + half, abs=1e-9)
    for row in found["seeds"]["role_pairs"]:
        values = [next(b["R"] for b in p["circuit"]["role_pairs"] if b["roles"] == row["roles"]) for p in alone]
        assert row["R"]["mean"] == pytest.approx(np.mean(values), abs=1e-12)
    assert "Over 2 sets of prompts" in hifi(*call, "--seeds", "2").stdout


def test_memory_is_what_is_stated(model, hifi):
    """The plan names what a run takes beside the program itself, for its threads; the lattice does not grow beyond it."""
    call = ["--model", SMALL, "--task", "ioi", "--prompts", "20", "--heads", "all"]

    def peak(*words):
        # A small program starts it: a child begins with the peak of its parent.
        program = ("import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
                   "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)")
        return int(subprocess.check_output([sys.executable, "-c", program, HIFI, *words])) * 1024

    alone = peak("circuit", "--model", SMALL, "--task", "ioi", "--prompts", "2", "--heads", "2.0", "--max-memory", "10M")
    for threads in ("1", "2"):
        hifi("plan", *call, "--threads", threads, "--json", "plan.json")
        stated = json.loads((model / "plan.json").read_text())["memory_bytes"]
        found = peak("circuit", *call, "--threads", threads) - alone
        assert 0.3 * stated < found < stated + 4e6, (threads, stated, found)


def test_plan_of_a_circuit(model, hifi):
    text = hifi("plan", *CALL[1:], "--heads", "0.0,1.1,2.0").stdout
    assert "8 coalitions x 24 draws" in text and "by position" in text
    assert "does not go with --task" in refused(hifi, "plan", *CALL[1:], "--data", "x.csv", code=2)
    assert "needs --task" in refused(hifi, "plan", "--model", "m", "--data", "x.csv", "--heads", "0.0", code=2)
    assert "names no head" in refused(hifi, *CALL, "--heads", "", code=2)


def refused(hifi, *words, code=3):
    result = hifi(*words, code=code)
    assert result.stdout == "" and result.stderr.count("\n") == 1, result.stderr
    return result.stderr


def test_bad_heads_and_tasks(model, hifi):
    task = make_task()

    def with_task(change):
        other = json.loads(json.dumps(task))
        change(other)
        (model / "bad.json").write_text(json.dumps(other))
        return refused(hifi, "circuit", "--model", "model", "--task", "bad.json", "--heads", "0.0")

    assert "no head \"3.0\"" in refused(hifi, *CALL, "--heads", "3.0")
    assert "no head \"x\"" in refused(hifi, *CALL, "--heads", "x")
    assert "there twice" in refused(hifi, *CALL, "--heads", "0.0,0.0", code=2)
    assert "unknown field \"extra\"" in with_task(lambda t: t.update(extra=1))
    assert "outside of the model's vocabulary" in with_task(lambda t: t["prompts"][2]["tokens"].append(40))
    assert "outside of the model's vocabulary" in with_task(lambda t: t["prompts"][2].update(answer=40))
    assert "the model takes 1 to 12" in with_task(lambda t: t["prompts"][0].update(tokens=[1] * 13))
    assert "no vocab.json" in with_task(lambda t: t["prompts"].append({"text": "a", "answer": 1}))
    assert "has no distractor" in with_task(lambda t: t["prompts"][1].pop("distractor"))
    assert "are one token" in with_task(lambda t: t["prompts"][1].update(distractor=t["prompts"][1]["answer"]))
    assert "has no reference" in with_task(lambda t: t.pop("reference"))
    assert "role \"Early\": there is no head" in with_task(lambda t: t["roles"].update(Early=["9.9"]))
    assert "no vocab.json" in refused(hifi, "circuit", "--model", "model", "--task", "ioi")
    assert "none.json" in refused(hifi, "circuit", "--model", "model", "--task", "none.json")
    uneven = make_task()
    uneven["reference"][0]["tokens"].append(1)
    (model / "uneven.json").write_text(json.dumps(uneven))
    assert "unequal lengths" in refused(hifi, "circuit", "--model", "model", "--task", "uneven.json", "--ablation",
                                        "resample", "--heads", "0.0")
    assert "--max-memory" in refused(hifi, *CALL, "--max-memory", "100K")


def test_names_of_several_tokens(model, hifi):
    (model / "model" / "vocab.json").write_text(json.dumps({c: k for k, c in enumerate("abcdefgh")} | {"ab": 8}))
    (model / "model" / "merges.txt").write_text("a b\n")
    task = {"schema": "hifi.task/1", "prompts": [{"text": "abc", "answer": "abc", "distractor": "a"}]}
    (model / "names.json").write_text(json.dumps(task))
    assert "\"abc\" splits into 2 tokens" in refused(hifi, "circuit", "--model", "model", "--task", "names.json",
                                                     "--ablation", "zero")


def test_bad_weights(model, hifi):
    folder = model / "model"
    path = folder / "model.safetensors"
    good = path.read_bytes()
    weights = gpt2_folders.weights_of(CONFIG, size=0.5)

    def message():
        return refused(hifi, *CALL, "--heads", "0.0")

    path.write_bytes(good[:-10])
    assert "model.safetensors" in message()
    path.write_bytes(b"\xff" * 8 + good[8:])
    assert "the header claims" in message()
    gpt2_folders.write_safetensors(path, weights | {"ln_f.bias": np.zeros(17, np.float32)})
    assert "\"ln_f.bias\" has shape [17]" in message()
    gpt2_folders.write_safetensors(path, weights | {"ln_f.bias": np.zeros(16, np.float32)}, "F32")
    path.write_bytes(path.read_bytes().replace(b'"F32"', b'"I32"'))
    assert "dtype I32" in message()
    path.unlink()
    assert "neither model.safetensors nor its index" in message()
    gpt2_folders.write_folder(folder, CONFIG, weights, shards=2)
    (folder / "model-00002-of-00002.safetensors").unlink()
    assert "model-00002-of-00002.safetensors" in message()
    (folder / "config.json").write_text(json.dumps(dict(CONFIG, model_type="llama")))
    assert "unknown architecture" in message()
    (folder / "config.json").write_text(json.dumps(CONFIG)[:-1] + ', "n_layer": 2}')
    assert "\"n_layer\" is there twice" in message()
    (folder / "config.json").write_text(json.dumps(CONFIG))
    path.symlink_to(path.name)
    assert "symbolic links" in message()
    assert "no such folder" in refused(hifi, "circuit", "--model", "nowhere", "--task", "task.json")


def test_an_interrupted_run_goes_on(model, hifi):
    """Ctrl-C in the middle: the file is kept, and the resumed run ends with the same bytes."""
    wide = dict(CONFIG, n_layer=6, n_head=4, n_embd=64)
    gpt2_folders.write_folder(model / "wide", wide, gpt2_folders.weights_of(wide, size=0.3))
    heads = ",".join(f"{l}.{h}" for l, h in itertools.product(range(6), range(2)))
    call = ["circuit", "--model", "wide", "--task", "task.json", "--heads", heads, "--exact", "--quiet", "--threads", "1"]
    started = subprocess.Popen([HIFI, *call, "--out", "cut.hifi"], cwd=model, stderr=subprocess.PIPE)
    deadline = time.time() + 60
    while not (model / "cut.hifi").exists() and time.time() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    started.send_signal(signal.SIGINT)
    started.wait(timeout=60)
    if started.returncode == 0:
        pytest.skip("the machine was too fast for an interruption")
    assert started.returncode == 5
    hifi("resume", "cut.hifi", "--quiet", "--json", "resumed.json")
    hifi(*call, "--json", "whole.json")
    assert (model / "resumed.json").read_text() == (model / "whole.json").read_text()
