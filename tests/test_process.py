"""`process:CMD` models: what they are sent, how they may answer, how they may fail."""

import os
import re
import time

import numpy as np
import pytest

from conftest import write_csv
from oracle import LOSSES, check

def flags(model, *more):
    return ["explain", "--model", f"process:{model}", "--data", "d.csv", *more]


@pytest.fixture
def data(tmp_path):
    def write(**columns):
        return write_csv(tmp_path / "d.csv", columns)

    write(a=[0.5, 1.5, -1.0], b=[2.0, 0.0, 1.0], y=[0, 1, 1])
    return write


def answer(expression):
    return f"awk -F, 'NR > 1 {{ {expression} }}'"


def test_what_is_sent(data, hifi, tmp_path):
    data(**{"plain": [0.1, 1e300, float("nan")], "truth": [True, False, True], "word": ["x", '"say ""hi"", a"', ""],
            "whole": [1, 2, 3]})
    hifi(*flags("tee -a sent.txt | " + answer("print length($0)"), "--loss", "prediction", "--background", "row:0",
                "--features", "plain", "--quiet"))
    lines = (tmp_path / "sent.txt").read_text().splitlines()
    assert lines[0] == "plain,truth,word,whole"  # a header with every call
    assert lines.count(lines[0]) >= 2
    rows = set(lines) - {lines[0]}
    assert rows >= {"0.1,true,x,1", '1e+300,false,"say ""hi"", a",2', ",true,,3"}  # missing = empty
    assert "0.1,true,,3" in rows  # plain replaced by row 0, the rest as in the instance


def test_batch_is_the_number_of_rows_per_call(data, hifi, tmp_path):
    rng = np.random.default_rng(1)
    data(**dict(zip("abc", rng.normal(size=(3, 20)))), y=rng.normal(size=20))
    script = "awk 'END { print NR - 1 >> \"rows.txt\" } NR > 1 { print NR > \"/dev/stderr\"; print 1 }' 2>/dev/null"
    hifi(*flags(script, "--target", "y", "--exact", "--batch", 50, "--quiet"))
    rows = [int(line) for line in (tmp_path / "rows.txt").read_text().split()]
    assert max(rows) <= 50
    assert sum(rows) <= 8 * 400 + 200


def test_any_batch_gives_the_same_profile(data, profile, tmp_path):
    rng = np.random.default_rng(4)
    columns = {name: [int(v) for v in rng.integers(0, 2, 6)] for name in "abcdef"}  # many duplicates
    data(**columns, y=rng.normal(size=6))
    (tmp_path / "g.json").write_text('{"g": ["e", "a"], "h": ["b"], "i": ["f", "c"]}')  # d stays
    model = answer("print $1 + 2 * $2 + 4 * $3 + 8 * $4 * $5 + 16 * $6 * $1")

    def owner(r):
        return r[:, 0] + 2 * r[:, 1] + 4 * r[:, 2] + 8 * r[:, 3] * r[:, 4] + 16 * r[:, 5] * r[:, 0]

    x = np.array([columns[name] for name in "abcdef"]).T
    found = [profile(*flags(model, "--loss", "prediction", "--target", "y", "--groups", "g.json", "--exact", *more))
             for more in ([], ["--batch", 2], ["--batch", 4], ["--batch", 8], ["--batch", 16], ["--batch", 7])]
    check(found[0], owner, x, np.zeros(6), x, lambda p, y: -p[:, 0], {"g": [4, 0], "h": [1], "i": [5, 2]}, tie=1e-9)
    assert all(f == found[0] for f in found)


def test_identical_rows_are_asked_once(data, hifi, tmp_path):
    data(a=[0, 1] * 10, b=[0, 0, 1, 1] * 5, y=[0, 1] * 10)
    script = "awk 'END { print NR - 1 >> \"rows.txt\" } NR > 1 { print 1 }'"
    hifi(*flags(script, "--target", "y", "--exact", "--quiet"))
    # 1,600 evaluations, but only four distinct rows.
    assert max(int(line) for line in (tmp_path / "rows.txt").read_text().split()[3:]) <= 4


def test_one_number_is_a_regressor(data, profile):
    assert profile(*flags(answer("print $1"), "--target", "y"))["loss"] == "squared"


def test_several_numbers_are_class_probabilities(data, profile):
    model = answer('p = 1 / (1 + exp(-$1)); printf "%.17g,%.17g\\n", 1 - p, p')

    def owner(rows):
        p = 1 / (1 + np.exp(-rows[:, 0]))
        return np.stack([1 - p, p], axis=1)

    x, y = np.array([[0.5, 2], [1.5, 0], [-1, 1]]), np.array([0, 1, 1])
    assert profile(*flags(model, "--target", "y"))["loss"] == "log"
    for loss in ("log", "brier", "zero-one"):
        check(profile(*flags(model, "--target", "y", "--loss", loss)), owner, x, y, x, LOSSES[loss], tie=1e-9)
    found = profile(*flags(model, "--loss", "prediction", "--target", "y"))  # class 1 of two
    check(found, owner, x, y, x, lambda p, y: -p[:, 1], tie=1e-9)
    found = profile(*flags(model, "--loss", "prediction", "--target", "y", "--class", "0"))
    check(found, owner, x, y, x, lambda p, y: -p[:, 0], tie=1e-9)


def test_one_column_of_probabilities(data, profile, hifi):
    found = profile(*flags(answer("print ($1 > 0) ? 0.75 : 0.25"), "--target", "y", "--loss", "brier"))
    assert found["loss"] == "brier"
    for loss in ("log", "brier", "zero-one"):
        error = hifi(*flags(answer("print 3 * $2"), "--target", "y", "--loss", loss), code=3).stderr
        assert "probability" in error and "--link" in error


def test_links(data, profile, hifi):
    x, y = np.array([[0.5, 2], [1.5, 0], [-1, 1]]), np.array([0, 1, 1])
    found = profile(*flags(answer("print 3 * $1 - $2"), "--target", "y", "--loss", "log", "--link", "sigmoid"))
    check(found, lambda r: 1 / (1 + np.exp(-(3 * r[:, 0] - r[:, 1]))), x, y, x, LOSSES["log"], tie=1e-9)

    def softmax(rows):
        e = np.exp(np.stack([rows[:, 0], rows[:, 1], 0 * rows[:, 0]], axis=1))
        return e / e.sum(axis=1, keepdims=True)

    found = profile(*flags(answer('print $1 "," $2 ",0"'), "--target", "y", "--link", "softmax"))
    check(found, softmax, x, y, x, LOSSES["log"], tie=1e-9)
    assert "sigmoid" in hifi(*flags(answer("print $1"), "--target", "y", "--loss", "log", "--link", "softmax"),
                             code=3).stderr


def test_log_loss_is_clipped(data, profile):
    data(a=[0, 1], y=[0, 1])
    found = profile(*flags(answer("print $1"), "--target", "y", "--loss", "log", "--background", "row:0"))
    # Absent a is 0: the second row is then certain of the wrong class.
    right, wrong = -np.log(1 - 1e-15), -np.log(1e-15)
    assert found["features"][0]["pi"]["value"] == pytest.approx((wrong - right) / 2, rel=1e-12)
    data(a=[0.0, 1e-16], y=[0, 1])
    assert profile(*flags(answer("print $1"), "--target", "y", "--loss", "log", "--background",
                          "row:0"))["features"][0]["pi"]["value"] == 0  # both below the clip


def test_zero_one_ties(data, profile):
    data(a=[0.5, 0.5, 1.0], y=[0, 1, 1])
    found = profile(*flags(answer("print $1"), "--target", "y", "--loss", "zero-one", "--background", "row:0"))
    # p = 0.5 is class 0: the first row is right; the third becomes right when a is present.
    assert found["features"][0]["pi"]["value"] == pytest.approx(1 / 3)
    data(a=[1, 1, 2], y=[0, 1, 2])
    three = answer('print ($1 == 1) ? "0.4,0.4,0.2" : "0.2,0.4,0.4"')  # lowest index: class 0, then class 1
    found = profile(*flags(three, "--target", "y", "--loss", "zero-one", "--background", "row:0"))
    assert found["features"][0]["pi"]["value"] == 0


def test_prediction_gain_is_the_increase(data, profile, tmp_path):
    data(a=[3.0], b=[5.0])
    write_csv(tmp_path / "z.csv", {"a": [1], "b": [1]})
    found = profile(*flags(answer("print 10 * $1 - $2"), "--loss", "prediction", "--background", "z.csv"))
    assert [f["pi"]["value"] for f in found["features"]] == [20, -4]
    assert [f["U"]["value"] for f in found["features"]] == [20, -4]


def test_text_columns_are_players(data, profile):
    data(colour=["red", "blue", "red"], size=[1.0, 2.0, 3.0], y=[1, 0, 1])
    found = profile(*flags(answer('print ($1 == "red")'), "--target", "y", "--background", "row:1"))
    assert [f["pi"]["value"] for f in found["features"]] == [pytest.approx(2 / 3), 0]


FAILURES = [
    ("nosuchprogram", "exit status 127.*not found"),
    ("cat > /dev/null; exit 3", "exit status 3"),
    ("cat > /dev/null; echo broken pipe of pain >&2; exit 1", "broken pipe of pain"),
    ("kill -9 $$", "signal 9"),
    ("cat > /dev/null", "printed 0 lines for 1 rows"),
    ("cat > /dev/null; echo 1; echo 2", "more than"),
    ("awk 'NR > 1 { print (NR == 3 ? \"\" : 1) }'", "line 2|lines"),
    (answer("print \"nan\""), "nan"),
    (answer("print \"inf\""), "inf"),
    (answer("print \"hello\""), "hello"),
    (answer("print \"1 2\""), "1 2"),
    (answer('print (NR == 3) ? "0.5" : "0.5,0.5"'), "line 2"),
    ("echo $$; echo $$; echo $$", "more than"),
    ("awk -v seed=$$ 'NR > 1 { print seed }'", "not deterministic.*data row 1"),
    ("", "process:"),
]


@pytest.mark.parametrize("command, message", FAILURES)
def test_failures(data, hifi, tmp_path, command, message):
    error = hifi(*flags(command, "--target", "y", "--json", "p.json", "--out", "run.hifi"), code=4)
    assert error.stdout == "" and error.stderr.count("\n") == 1 and "Traceback" not in error.stderr
    assert re.search(message, error.stderr), error.stderr
    assert error.stderr.startswith("hifi: ")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["d.csv"]


def test_hanging_process(data, hifi):
    start = time.time()
    error = hifi(*flags("sleep 100", "--target", "y"), code=4, env={"HIFI_PROCESS_TIMEOUT": "1"}).stderr
    assert time.time() - start < 10
    assert "no answer after 1 s" in error and "HIFI_PROCESS_TIMEOUT" in error and error.count("\n") == 1


def test_children_do_not_outlive_us(data, hifi):
    hifi(*flags("sleep 54321 & sleep 100", "--target", "y"), code=4, env={"HIFI_PROCESS_TIMEOUT": "1"})
    running = [open(f"/proc/{pid}/cmdline").read() for pid in os.listdir("/proc")
               if pid.isdigit() and os.path.exists(f"/proc/{pid}/cmdline")]
    assert not any("54321" in command for command in running)


def test_a_program_may_not_read_its_input(data, profile):
    data(a=[1.0], y=[2.0])
    assert profile(*flags("echo 1", "--target", "y"))["features"][0]["pi"]["value"] == 0


def test_blanks_and_line_ends(data, profile):
    plain = profile(*flags(answer('printf "%.17g\\n", $1'), "--target", "y"))["features"]
    for form in (" %.17g \\r\\n", "\\t%+.17g\\n", "%.17e\\n"):
        assert profile(*flags(answer(f'printf "{form}", $1'), "--target", "y"))["features"] == plain
