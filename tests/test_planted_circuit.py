"""`hifi circuit` on a transformer with hand-set weights (models/planted_circuit.py): the whole profile has a closed form."""

import itertools
import json
import random
import sys

import numpy as np
import pytest

from conftest import ROOT, reference

sys.path.insert(0, str(ROOT / "models"))
import planted_circuit as planted  # noqa: E402

HEADS = list(planted.PLAYERS.values())


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """The model without and with differences between names."""
    found = {}
    for spread in (0.0, 0.3):
        found[spread] = tmp_path_factory.mktemp("planted")
        planted.write_model(found[spread], spread)
    return found


def write_task(folder, pairs, name="task.json"):
    (folder / name).write_text(json.dumps(planted.task(pairs)))
    return folder / name


def circuit(profile, folder, task, *words):
    return profile("circuit", "--model", folder, "--task", task, "--heads", ",".join(HEADS), *words)


def expected_profile(pairs, spread):
    """By the closed form, every coalition enumerated in Python."""
    losses = {}
    for bits in itertools.product((0, 1), repeat=len(HEADS)):
        kept = [role for role, bit in zip(planted.PLAYERS, bits) if bit]
        losses["".join(map(str, bits))] = -np.mean([planted.value(kept, io, s, spread) for io, s, _ in pairs])
    return reference(losses, HEADS)


@pytest.mark.parametrize("spread", [0.0, 0.3])
def test_every_number_has_its_closed_form(profile, folders, spread):
    folder, pairs = folders[spread], planted.all_pairs()
    found = circuit(profile, folder, write_task(folder, pairs))
    expected = expected_profile(pairs, spread)
    assert found["coverage"]["exhaustive"] and found["coverage"]["draws"] == len(pairs)
    for f, e in zip(found["features"], expected["features"]):
        for key in ("U", "R", "S", "pi", "Lmax", "last"):
            assert f[key]["value"] == pytest.approx(e[key]["value"], abs=1e-5), (f["player"], key)
    for p, e in zip(found["pairs"], expected["pairs"]):
        for key in ("S", "R"):
            assert p[key]["value"] == pytest.approx(e[key]["value"], abs=2e-5), (p["players"], key)


def test_roles_are_what_was_planted(profile, folders):
    folder = folders[0.0]
    found = circuit(profile, folder, write_task(folder, planted.all_pairs()))
    feature = {role: f for role, f in zip(planted.PLAYERS, found["features"])}
    values = {role: tuple(round(f[key]["value"], 4) for key in ("U", "R", "S")) for role, f in feature.items()}
    assert values == {"DUP": (0, 0, 3), "MOV": (0, 0, 3), "B1": (0, 2, 0), "B2": (0, 2, 0), "UNI": (1, 0, 0),
                      "NEG": (-0.5, 0, 0), "BUSY": (0, 0, 0), "NULL": (0, 0, 0)}
    pairs = {tuple(p["players"]): (round(p["S"]["value"], 4), round(p["R"]["value"], 4)) for p in found["pairs"]}
    assert pairs.pop(("0.0", "1.0")) == (3, 0)  # the chain
    assert pairs.pop(("0.2", "1.1")) == (0, 2)  # the backups
    assert set(pairs.values()) == {(0, 0)}
    block = {tuple(sorted(b["roles"])): (round(b["S"], 4), round(b["R"], 4)) for b in found["circuit"]["role_pairs"]}
    assert block[("Chain", "Chain")] == (3, 0) and block[("Backup", "Backup")] == (0, 2)
    # Both scores of patching miss half of it: restoring one head misses the chain, ablating one head the backups.
    restore, ablate = ({role: round(found["circuit"][key][head], 4) for role, head in planted.PLAYERS.items()}
                       for key in ("restore", "ablate"))
    assert restore["DUP"] == restore["MOV"] == 0 and restore["B1"] == 2
    assert ablate["B1"] == ablate["B2"] == 0 and ablate["MOV"] == 3


def test_intervals_cover_the_population_of_prompts(profile, folders):
    """Prompts drawn from all ordered pairs of names; the truth of the population is EFFECT."""
    folder, truth = folders[0.3], {("0.3", "U"): 1.0, ("0.3", "pi"): 1.0, ("0.2", "pi"): 2.0, ("1.0", "last"): 3.0, ("1.2", "pi"): -0.5}
    rng, repetitions, missed = random.Random(11), 12, dict.fromkeys(truth, 0)
    for number in range(repetitions):
        pairs = rng.choices(planted.all_pairs(), k=60)
        task = write_task(folder, pairs, f"task{number}.json")
        found = circuit(profile, folder, task, "--seed", number)
        feature = {f["player"]: f for f in found["features"]}
        for head, key in truth:
            quantity = feature[head][key]
            assert quantity["low"] < quantity["high"] < quantity["low"] + 2
            missed[head, key] += not quantity["low"] <= truth[head, key] <= quantity["high"]
    # Nominal 5 %; 4 or more of 12 misses has a chance below 0.2 % each.
    assert max(missed.values()) <= 3, missed
