"""`hifi decompose` on tables made by hand: every field of hifi.profile/1, to the letter."""

import csv
import json

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from conftest import coalitions, reference, same_profile, table_of, write_losses

QUANTITIES = ["U", "R", "S", "pi", "Lmax", "last"]


def names(n):
    return [f"x{i + 1}" for i in range(n)]


@pytest.fixture
def decompose(profile, tmp_path):
    def run(losses, *flags):
        return profile("decompose", write_losses(tmp_path / "table.csv", losses), *flags)

    return run


def values(feature):
    return [feature[key]["value"] for key in QUANTITIES]


def contexts(feature):
    return [feature[key]["context"] for key in QUANTITIES]


def test_every_field(decompose):
    found = decompose({"00": 1.0, "10": 1.0, "01": 1.0, "11": 0.0})  # AND: only both together help

    def q(value, context):
        return {"value": value, "plugin": value, "low": None, "high": None, "population": None, "context": context,
                "resolved": None}

    def feature(name, other):
        return {"player": name, "U": q(0, []), "R": q(0, []), "S": q(1, [other]), "pi": q(0, []), "Lmax": q(1, [other]),
                "last": q(1, [other]), "gain": {"q05": 0.05, "q50": 0.5, "q95": 0.95}, "contexts": {"seen": 2, "of": 2},
                "basis": "enumerated"}

    for f in found["features"]:  # null until intervals exist
        assert f.pop("verdict") in (None, "synergistic")
        assert f.pop("hurts_in_context") in (None, False)
        assert f["gain"] == pytest.approx({"q05": 0.05, "q50": 0.5, "q95": 0.95})
        f["gain"] = {"q05": 0.05, "q50": 0.5, "q95": 0.95}
    assert found == {
        "schema": "hifi.profile/1", "players": ["x1", "x2"], "loss": None, "measure": "loss", "expected": "loss",
        "coverage": {"coalitions": 4, "of": 4, "exhaustive": True, "draws": None, "exact": None, "interval": None,
                     "confidence": 0.95, "threshold": 0.01},
        "features": [feature("x1", "x2"), feature("x2", "x1")],
        "pairs": [{"players": ["x1", "x2"], "S": q(1, []), "R": q(0, None), "contexts": {"seen": 1, "of": 1}}],
        "warnings": [], "provenance": found["provenance"]}
    assert isinstance(found["provenance"], dict)


def test_fields_in_the_order_of_the_contract(hifi, tmp_path):
    table = write_losses(tmp_path / "t.csv", {"0": 1.0, "1": 0.0})
    found = json.loads(hifi("decompose", table, "--json", "-").stdout)
    assert list(found) == ["schema", "players", "loss", "measure", "expected", "coverage", "features", "pairs",
                           "warnings", "provenance"]
    assert list(found["features"][0]) == ["player", *QUANTITIES, "gain", "contexts", "verdict", "basis",
                                          "hurts_in_context"]
    assert list(found["features"][0]["U"]) == ["value", "plugin", "low", "high", "population", "context", "resolved"]


def test_xor_with_a_spectator(decompose):
    found = decompose(table_of(4, lambda s: 0 if {0, 1, 3} <= s else 1))
    for k, others in ((0, ["x2", "x4"]), (1, ["x1", "x4"]), (3, ["x1", "x2"])):
        f = found["features"][k]
        assert values(f) == [0, 0, 1, 0, 1, 1]
        rest = [x for x in names(4) if x != f["player"]]
        assert contexts(f) == [[], [], others, [], others, rest]
    spectator = found["features"][2]
    assert values(spectator) == [0] * 6
    assert contexts(spectator) == [[]] * 5 + [["x1", "x2", "x4"]]
    pairs = {tuple(p["players"]): p for p in found["pairs"]}
    assert pairs["x1", "x2"]["S"]["value"] == 1 and pairs["x1", "x2"]["S"]["context"] == ["x4"]
    for other in ("x1", "x2"):
        assert pairs[other, "x3"]["S"] == pairs[other, "x3"]["R"]
        assert pairs[other, "x3"]["S"]["value"] == 0 and pairs[other, "x3"]["S"]["context"] is None


def test_copied_feature(decompose):
    found = decompose(table_of(2, lambda s: 0 if s else 1))
    for f, other in zip(found["features"], ("x2", "x1")):
        assert values(f) == [0, 1, 0, 1, 1, 0]
        assert contexts(f) == [[other], [other], [], [], [], [other]]
    assert found["pairs"][0]["R"]["value"] == 1 and found["pairs"][0]["S"]["value"] == 0
    assert found["pairs"][0]["R"]["context"] == []


def test_additive(decompose):
    found = decompose(table_of(3, lambda s: 10 - sum(2.0 ** i for i in s)))
    for i, f in enumerate(found["features"]):
        assert values(f) == [2 ** i, 0, 0, 2 ** i, 2 ** i, 2 ** i]
        assert f["gain"] == {"q05": 2 ** i, "q50": 2 ** i, "q95": 2 ** i}
    assert all(p[key]["value"] == 0 and p[key]["context"] is None for p in found["pairs"] for key in "SR")


def test_harmful(decompose):
    found = decompose(table_of(2, lambda s: 1 + (0 in s) - 0.5 * (1 in s)))
    assert values(found["features"][0]) == [-1, 0, 0, -1, -1, -1]  # U keeps its sign
    assert found["coverage"]["threshold"] == pytest.approx(0.015)


def test_ties_fewest_players_then_position(decompose):
    # x5 gains 1 in the contexts {1,4}, {2,3} and larger ones: {1,4} before {2,3}.
    found = decompose(table_of(5, lambda s: 0 if 4 in s and ({0, 3} <= s or {1, 2} <= s) else 1))
    assert found["features"][4]["Lmax"]["context"] == ["x1", "x4"]
    assert found["features"][4]["S"]["context"] == ["x1", "x4"]
    assert found["features"][4]["U"]["context"] == []


def test_ties_within_the_tolerance(decompose):
    almost = {"00": 1.0, "10": 1.0, "01": 0.5, "11": 0.5 - 4e-10}  # 1e-9 max|L| = 1e-9
    f = decompose(almost)["features"][0]
    assert f["Lmax"]["value"] == 0.5 - (0.5 - 4e-10) and f["Lmax"]["context"] == []
    clear = almost | {"11": 0.5 - 4e-9}
    assert decompose(clear)["features"][0]["Lmax"]["context"] == ["x2"]


def test_small_pair_values_are_not_rounded_to_zero(decompose):
    pair = decompose({"00": 1.0, "10": 1.0, "01": 1.0, "11": 1 - 1e-14})["pairs"][0]
    assert 0 < pair["S"]["value"] < 2e-14 and pair["S"]["context"] == []


def test_numbers_read_back_to_the_same_double(decompose):
    losses = {"0": 0.1 + 0.2, "1": 1 / 3}
    assert decompose(losses)["features"][0]["pi"]["value"] == losses["0"] - losses["1"]
    tiny = {"0": 5e-324, "1": 0.0}
    assert decompose(tiny)["features"][0]["pi"]["value"] == 5e-324


@pytest.mark.parametrize("n", [1, 2, 3, 5, 7])
def test_random_complete_tables(decompose, n):
    rng = np.random.default_rng(n)
    for spread in (1.0, 1e-6, 1e6):
        losses = {bits: 3 + spread * float(rng.normal()) for bits in coalitions(n)}
        same_profile(decompose(losses), reference(losses, names(n)), 1e-9 * spread)


@pytest.mark.parametrize("n", [2, 3, 5, 8])
@pytest.mark.parametrize("share", [0.25, 0.6, 0.95])
def test_random_partial_tables(decompose, n, share):
    rng = np.random.default_rng(int(100 * share) + n)
    everything = coalitions(n)
    for _ in range(3):
        count = min(len(everything) - 1, max(1, round(share * len(everything))))
        seen = rng.permutation(everything)[:count]
        losses = {str(bits): float(rng.integers(0, 4)) for bits in seen}  # many ties
        found = decompose(losses)
        same_profile(found, reference(losses, names(n)))
        assert found["coverage"]["coalitions"] == count and found["coverage"]["of"] == 2 ** n
        assert found["coverage"]["exhaustive"] is False
        assert any(w["code"] == "partial_coverage" for w in found["warnings"])
        for f in found["features"]:
            assert f["basis"] == ("enumerated" if f["contexts"]["seen"] == f["contexts"]["of"] else "searched")


def test_absent_is_null_never_zero(decompose):
    found = decompose({"100": 1.0, "110": 0.0, "011": 0.0})
    x1, x2, x3 = found["features"]
    assert values(x2) == [1, None, None, None, 1, None] and x2["U"]["context"] == ["x1"]
    assert x2["R"]["context"] is None and x2["pi"]["context"] is None and x2["last"]["context"] is None
    for f in (x1, x3):
        assert values(f) == [None] * 6 and contexts(f) == [None] * 6
        assert f["gain"] == {"q05": None, "q50": None, "q95": None} and f["contexts"] == {"seen": 0, "of": 4}
    assert all(p[key]["value"] is None and p[key]["context"] is None for p in found["pairs"] for key in "SR")


def test_last_without_the_empty_set(decompose):
    f = decompose({"011": 1.0, "111": 0.25})["features"][0]
    assert values(f) == [0.75, None, None, None, 0.75, 0.75] and f["last"]["context"] == ["x2", "x3"]


@pytest.mark.parametrize("n, of", [(53, 2 ** 53), (54, str(2 ** 54)), (64, str(2 ** 64)), (200, str(2 ** 200))])
def test_many_players(decompose, n, of):
    full = "1" * n
    found = decompose({"0" * n: 1.0, full: 0.0, "0" + full[1:]: 0.5}, "--pairs", "none")
    assert found["coverage"]["of"] == of
    assert found["features"][0]["last"]["value"] == 0.5 and len(found["features"][0]["last"]["context"]) == n - 1
    half = 2 ** (n - 1)
    assert found["features"][0]["contexts"] == {"seen": 1, "of": half if half <= 2 ** 53 else str(half)}


def test_pairs(decompose, hifi, tmp_path):
    rng = np.random.default_rng(5)
    losses = {bits: float(rng.normal()) for bits in coalitions(4)}
    everything = decompose(losses)["pairs"]
    assert [p["players"] for p in everything] == [["x1", "x2"], ["x1", "x3"], ["x1", "x4"], ["x2", "x3"], ["x2", "x4"],
                                                  ["x3", "x4"]]
    assert decompose(losses, "--pairs", "all")["pairs"] == everything
    assert decompose(losses, "--pairs", "none")["pairs"] == []
    assert decompose(losses, "--pairs", "top:0")["pairs"] == []
    assert decompose(losses, "--pairs", "with:x3")["pairs"] == [p for p in everything if "x3" in p["players"]]
    largest = sorted(everything, key=lambda p: -max(p["S"]["value"], p["R"]["value"]))[:2]
    assert decompose(losses, "--pairs", "top:2")["pairs"] == [p for p in everything if p in largest]
    assert decompose(losses, "--pairs", "top:99")["pairs"] == everything
    for wrong in ("some", "top:", "top:-1", "top:x", "top:1.5", "with"):
        hifi("decompose", tmp_path / "table.csv", "--pairs", wrong, code=2)
    assert "x1, x2" in hifi("decompose", tmp_path / "table.csv", "--pairs", "with:x9", code=3).stderr


def test_players(decompose):
    found = decompose({"00": 1.0, "10": 0.5, "01": 1.0, "11": 0.0}, "--players", "α,second one")
    assert found["players"] == ["α", "second one"]
    assert found["features"][0]["Lmax"]["context"] == ["second one"]
    assert found["pairs"][0]["players"] == ["α", "second one"]


def test_formats_give_the_same_bytes(hifi, tmp_path):
    losses = table_of(3, lambda s: 1 / (1 + len(s)) + 0.1 * (0 in s))
    write_losses(tmp_path / "t.csv", losses)
    columns = pa.table({"coalition": list(losses), "loss": list(losses.values()), "note": ["x"] * 8})
    pa.parquet.write_table(columns, tmp_path / "t.parquet")
    codes = columns.set_column(0, "coalition", columns["coalition"].dictionary_encode())
    pa.parquet.write_table(codes, tmp_path / "codes.parquet")
    pa.feather.write_feather(columns, str(tmp_path / "t.feather"))
    (tmp_path / "crlf.csv").write_bytes((tmp_path / "t.csv").read_bytes().replace(b"\n", b"\r\n"))
    (tmp_path / "bom.csv").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "t.csv").read_bytes())
    quoted = ["coalition,loss", *(f'"{bits}",{loss!r}' for bits, loss in losses.items())]
    (tmp_path / "quoted.csv").write_text("\n".join(quoted))  # no newline at the end
    lines = (tmp_path / "t.csv").read_text().splitlines()
    (tmp_path / "shuffled.csv").write_text("\n".join([lines[0], *reversed(lines[1:])]) + "\n")
    files = ["t.csv", "t.parquet", "codes.parquet", "t.feather", "crlf.csv", "bom.csv", "quoted.csv", "shuffled.csv"]
    assert len({hifi("decompose", name, "--json", "-").stdout for name in files}) == 1


def test_coalitions_are_text_never_numbers(hifi, tmp_path):
    pa.parquet.write_table(pa.table({"coalition": [0, 1], "loss": [1.0, 0.0]}), tmp_path / "t.parquet")
    assert "text" in hifi("decompose", "t.parquet", code=3).stderr


def test_k_and_var_are_read(decompose, profile, tmp_path):
    (tmp_path / "t.csv").write_text("coalition,loss,k,var\n0,1,100,0.5\n1,0.25,100,0.5\n")
    found = profile("decompose", "t.csv")
    assert found["features"][0]["pi"]["value"] == 0.75
    assert found["coverage"]["draws"] is None and found["coverage"]["exact"] is None


def test_csv(hifi, tmp_path):
    losses = {"000": 1.0, "100": 0.5, "010": 1.0, "110": 0.0}
    write_losses(tmp_path / "t.csv", losses)
    (tmp_path / "out").mkdir()
    found = json.loads(hifi("decompose", "t.csv", "--csv", "out", "--json", "-").stdout)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["features.csv", "pairs.csv"]
    rows = list(csv.DictReader((tmp_path / "out" / "features.csv").open()))
    assert [row["player"] for row in rows] == ["x1", "x2", "x3"]
    for row, f in zip(rows, found["features"]):
        for key in QUANTITIES:
            for part in ("value", "plugin", "low", "high", "population"):
                number = f[key][part]
                assert row[f"{key}.{part}"] == "" if number is None else float(row[f"{key}.{part}"]) == number
            assert row[f"{key}.context"] == ";".join(f[key]["context"] or [])
        assert row["contexts.seen"] == str(f["contexts"]["seen"]) and row["contexts.of"] == "4"
        assert row["gain.q50"] == "" if f["gain"]["q50"] is None else float(row["gain.q50"]) == f["gain"]["q50"]
        assert row["basis"] == f["basis"]
    pairs = list(csv.DictReader((tmp_path / "out" / "pairs.csv").open()))
    assert [row["players"] for row in pairs] == ["x1;x2", "x1;x3", "x2;x3"]
    assert float(pairs[0]["S.value"]) == 0.5 and pairs[2]["S.value"] == ""
    hifi("decompose", "t.csv", "--csv", "out", "--pairs", "none", "--quiet")
    header, *rest = (tmp_path / "out" / "pairs.csv").read_text().splitlines()
    assert header.startswith("players,S.value") and rest == []


def test_csv_of_one_player(hifi, tmp_path):
    write_losses(tmp_path / "t.csv", {"0": 1.0, "1": 0.5})
    hifi("decompose", "t.csv", "--csv", ".", "--quiet", "--json", "p.json")
    found = json.loads((tmp_path / "p.json").read_text())
    assert found["pairs"] == [] and values(found["features"][0]) == [0.5, 0, 0, 0.5, 0.5, 0.5]
    assert found["features"][0]["last"]["context"] == []


def test_where_the_output_goes(hifi, tmp_path):
    write_losses(tmp_path / "t.csv", table_of(2, lambda s: 1 - 0.5 * len(s)))
    talk = hifi("decompose", "t.csv")
    assert "x1" in talk.stdout and "\x1b" not in talk.stdout and talk.stderr == ""
    pure = hifi("decompose", "t.csv", "--json", "-")
    json.loads(pure.stdout)
    assert pure.stdout.startswith("{") and pure.stdout.endswith("}\n")
    quiet = hifi("decompose", "t.csv", "--quiet", "--json", "p.json")
    assert quiet.stdout == quiet.stderr == ""
    assert (tmp_path / "p.json").read_text() == pure.stdout
    assert hifi("decompose", "t.csv", "--json", "p.json").stdout == talk.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.json", "t.csv"]


def test_threads_do_not_matter(hifi, tmp_path):
    rng = np.random.default_rng(3)
    write_losses(tmp_path / "t.csv", {bits: float(rng.integers(0, 9)) for bits in coalitions(12)})
    runs = {hifi("decompose", "t.csv", "--json", "-", "--threads", t).stdout for t in (1, 2, 5)}
    assert len(runs) == 1


def test_relabelling_players_relabels_the_profile(decompose):
    rng = np.random.default_rng(8)
    losses = {bits: float(rng.normal()) for bits in coalitions(4)}
    order = [2, 0, 3, 1]
    turned = {"".join(bits[i] for i in order): loss for bits, loss in losses.items()}
    a = {f["player"]: values(f) for f in decompose(losses)["features"]}
    b = {f["player"]: values(f) for f in decompose(turned, "--players", ",".join(names(4)[i] for i in order))["features"]}
    assert a == b
