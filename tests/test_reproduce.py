"""`hifi reproduce e1`: the printed numbers, the files, and judges that know nothing of hifi."""

import csv
import itertools
import json
import os
import subprocess

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from conftest import HIFI, coalitions, reference

QUICK = ["reproduce", "e1", "--quick", "--seeds", "2"]


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """One quick run: its output, its document, its tables as lists of rows."""
    folder = tmp_path_factory.mktemp("e1")
    run = subprocess.run([HIFI, *QUICK, "--threads", "2", "--out", folder / "out"], capture_output=True, text=True,
                         timeout=300, check=True)
    tables = {path.stem: list(csv.DictReader(path.open())) for path in (folder / "out").glob("*.csv")}
    return run, json.loads((folder / "out" / "e1.json").read_text()), tables, folder


def test_same_bytes_on_other_threads(quick):
    folder = quick[3]
    subprocess.run([HIFI, *QUICK, "--threads", "1", "--out", folder / "again", "--quiet"], timeout=300, check=True)
    names = sorted(os.listdir(folder / "out"))
    assert names == sorted(os.listdir(folder / "again")) and "e1.json" in names
    for name in names:
        assert (folder / "out" / name).read_bytes() == (folder / "again" / name).read_bytes(), name


def test_terminal_csv_and_json_agree(quick):
    run, document, tables, folder = quick
    assert document["schema"] == "hifi.reproduce/1" and document["seeds"] == 2 and document["quick"]
    assert run.stdout == (folder / "out" / "e1.txt").read_text()
    assert "QUICK" in run.stdout and "2 repetitions" in run.stdout
    for table in document["tables"]:
        for ours, line in zip(table["rows"], tables[table["key"]], strict=True):
            for column, value in ours.items():
                if isinstance(value, dict):
                    assert float(line[column]) == value["mean"] and float(line[column + ".sd"]) == value["sd"]
                elif isinstance(value, float | int):
                    assert float(line[column]) == value
                else:
                    assert line[column] == (value or "")
    for row in tables["conflation"]:  # paper and ours stand in one line of the terminal
        (line,) = [x for x in run.stdout.splitlines() if x.split()[:2] == [row["model"], row["index"]] and "±" in x]
        assert f"{float(row['mean |phi|, exact']):.3g}" in line
        assert not row["paper"] or f"{float(row['paper']):.3g}" in line


def gauss():
    """Nodes and weights for standard normals: exact for polynomials up to degree 7."""
    nodes, weights = hermegauss(4)
    return nodes, weights / weights.sum()


def synth3_losses():
    """From the definition: terms share no column; x and z are independent rows, y has noise."""
    nodes, weights = gauss()

    def moments(term, raw, columns, kept):
        """Mean and mean square of term(x) - term(mixed row); `raw` normals make the columns of a row."""
        mean = square = 0
        for places in itertools.product(range(len(nodes)), repeat=2 * raw):
            w = np.prod(weights[list(places)])
            x, z = columns(nodes[list(places[:raw])]), columns(nodes[list(places[raw:])])
            d = term(x) - term([a if keep else b for a, b, keep in zip(x, z, kept)])
            mean, square = mean + w * d, square + w * d * d
        return mean, square

    terms = [((0, 1), lambda v: (v[0] + v[1]) / 2, lambda g: [g[0], g[0] + 0.1 * g[1]]),
             ((2, 3), np.prod, list), ((4,), lambda v: v[0], list), ((5, 6, 7), np.prod, list)]
    known = {}
    losses = {}
    for bits in coalitions(8):
        parts = []
        for k, (members, term, columns) in enumerate(terms):
            kept = tuple(bits[i] == "1" for i in members)
            if (k, kept) not in known:
                known[k, kept] = moments(term, len(members), columns, kept)
            parts.append(known[k, kept])
        mean = sum(m for m, _ in parts)
        losses[bits] = mean ** 2 + sum(s - m * m for m, s in parts) + 0.05 ** 2
    return losses


def bit_losses(mean):
    rows = list(itertools.product([0, 1], repeat=4))
    return {bits: float(np.mean([(mean([a if b == "1" else c for a, c, b in zip(x, z, bits)]) - mean(x)) ** 2
                                 for x in rows for z in rows])) for bits in coalitions(4)}


def xor(x):
    return (x[0] + x[1] + x[2]) % 2


TRUTH = {"XOR3": lambda: bit_losses(xor), "XOR+AND": lambda: bit_losses(lambda x: xor(x) + x[2] * x[3]),
         "Synth3": synth3_losses}


@pytest.mark.parametrize("model", TRUTH)
def test_truth_of_the_causal_models(quick, model):
    losses = TRUTH[model]()
    names = [f"x{i + 1}" for i in range(len(next(iter(losses))))]
    expected = reference(losses, names)
    ours = {row["player"]: row for row in quick[2]["players"] if (row["model"], row["source"]) == (model, "population")}
    for f in expected["features"]:
        for key in "URS":
            assert float(ours[f["player"]][key]) == pytest.approx(f[key]["value"], abs=1e-9), (f["player"], key)
    pairs = {(row["first"], row["second"]): row for row in quick[2]["pairs"]
             if (row["model"], row["source"]) == (model, "population")}
    for p in expected["pairs"]:
        for key in "SR":
            assert float(pairs[tuple(p["players"])][key]) == pytest.approx(p[key]["value"], abs=1e-9), p["players"]


def select(rows, key, **where):
    return [float(row[key]) for row in rows if all(row[k] == v for k, v in where.items())]


def test_ratios_tests_and_correlations_from_the_raw_numbers(quick):
    stats = pytest.importorskip("scipy.stats")
    tables = quick[2]
    ratios, by_pair, by_seed = [], [], []
    for seed in "12":
        pick = {"model": "XOR3", "seed": seed}
        u = dict(zip(["x1", "x2", "x3", "x4"], select(tables["players"], "U", **pick, source="exact")))
        phi = select(tables["indices"], "mean |phi|", **pick, index="SII")
        names = list(itertools.combinations(u, 2))
        s, r = (select(tables["pairs"], key, **pick, source="exact") for key in "SR")
        ratios.append(np.mean([((abs(u[a]) + abs(u[b])) / 2 + abs(s[p]) + abs(r[p])) / phi[p]
                               for p, (a, b) in enumerate(names) if "x4" not in (a, b)]))
        s, r = (select(tables["pairs"], key, **pick, source="paper policy") for key in "SR")
        by_pair += [abs(a + b) - c for a, b, c in zip(s, r, phi)]
        by_seed.append(np.mean(by_pair[-6:]))
    (row,) = [r for r in tables["conflation"] if (r["model"], r["index"]) == ("XOR3", "SII")]
    assert float(row["mean |phi|, exact"]) == pytest.approx(np.mean(ratios), rel=1e-9)
    assert float(row["mean |phi|, exact.sd"]) == pytest.approx(np.std(ratios, ddof=1), rel=1e-9)
    assert float(row["mean |phi|, closed form"]) == pytest.approx(2, abs=1e-9)
    (row,) = [r for r in tables["wilcoxon"] if (r["model"], r["index"]) == ("XOR3", "SII")]
    for column, differences in (("by pair, mean |phi|", by_pair), ("by seed, mean |phi|", by_seed)):
        p = stats.wilcoxon(differences, alternative="greater", method="exact").pvalue
        assert float(row[column]) == pytest.approx(p, rel=1e-9), column

    role = [0, 0, 1, 1, 0, 1, 1, 1]
    for source, column in (("exact", "exact"), ("paper policy", "paper policy")):
        found = [select(tables["players"], "S", model="Synth3", seed=seed, source=source) for seed in "12"]
        for name, judge in (("recovery_pearson", stats.pearsonr), ("recovery_spearman", stats.spearmanr)):
            (row,) = [r for r in tables[name] if r["channel"] == "S"]
            assert float(row[column]) == pytest.approx(np.mean([judge(f, role)[0] for f in found]), abs=1e-9)


def test_networks_have_learned(quick):
    explained = {row["model"]: float(row["share of variance explained"]) for row in quick[2]["networks"]}
    assert explained["XOR3"] > 0.8 and explained["XOR+AND"] > 0.8 and explained["Synth3"] > 0.5


def test_errors(hifi, tmp_path):
    assert "e9" in hifi("reproduce", "e9", code=2).stderr
    hifi("reproduce", code=2)
    assert "--seeds" in hifi("reproduce", "e1", "--seeds", "0", code=2).stderr
    (tmp_path / "file").write_text("")
    assert "file" in hifi("reproduce", "e1", "--out", "file", code=3).stderr
