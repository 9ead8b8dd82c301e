"""`hifi verify`: every check with what the theory says and what was found."""

import json
import time


def test_all_theorems_hold_in_time(hifi):
    start = time.monotonic()
    found = json.loads(hifi("verify", "--json", "-").stdout)
    assert time.monotonic() - start < 60
    assert found["schema"] == "hifi.verify/1"
    assert {c["theorem"] for c in found["checks"]} == {"T1", "T2", "T3", "T4", "P"}
    assert all(c["pass"] for c in found["checks"])
    assert len({(c["theorem"], c["name"]) for c in found["checks"]}) == len(found["checks"])
    for check in found["checks"]:
        assert list(check) == ["theorem", "name", "relation", "expected", "found", "tolerance", "pass"]


def test_pairs_of_parity_as_the_notes_have_them(hifi):
    found = json.loads(hifi("verify", "T1", "--json", "-").stdout)["checks"]

    def pairs(index, order):
        (check,) = [c for c in found if c["name"].startswith(f"{index} of order {order}, active pairs")]
        return round(check["found"], 9)

    for order, expected in {2: {"STII": 0.166666667, "FSII": 0.25, "k-SII": 0.25, "SII": 0.25, "kADD-SHAP": 0.25, "BII": 0.25},
                            3: {"STII": 0, "FSII": 0, "k-SII": 0, "SII": 0.25, "kADD-SHAP": 0.25, "BII": 0.25}}.items():
        for index, value in expected.items():
            assert pairs(index, order) == value, (index, order)


def test_text_and_errors(hifi, tmp_path):
    text = hifi("verify", "T1", "--json", tmp_path / "x.json").stdout
    assert "checks hold" in text and "FAIL" not in text and "T2" not in text
    assert all(c["theorem"] == "T1" for c in json.loads((tmp_path / "x.json").read_text())["checks"])
    assert "T9" in hifi("verify", "T9", code=2).stderr
    assert hifi("verify", "T1", "--json", "-", "--threads", 1).stdout == hifi("verify", "T1", "--json", "-").stdout
