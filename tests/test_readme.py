"""Every example of README.md and of --help runs as printed, in order, in one folder."""

import json
import os
import re
import subprocess

import pytest

from conftest import HIFI, ROOT

SKIPPED = ("make", "git", "cd", "pip", "#", "sudo", "apt")  # what sets up the machine
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)


def run(line, folder):
    path = os.path.dirname(HIFI) + os.pathsep + os.environ["PATH"]
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=120,
                          env={**os.environ, "PATH": path, "NO_COLOR": "1"})


def commands(block):
    """The lines of a block without prompts, continued lines joined; only those that call hifi."""
    lines = re.sub(r"\\\n\s*", "", block).splitlines()
    lines = [re.sub(r"^\$ ", "", line.strip()) for line in lines]
    return [line for line in lines if "hifi" in line and not line.startswith(SKIPPED)]


def stripped(text):
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines())


def test_readme(tmp_path):
    readme = ROOT / "README.md"
    if not readme.exists():
        pytest.skip("there is no README.md yet")
    blocks = BLOCK.findall(readme.read_text())
    examples = 0
    for k, (kind, block) in enumerate(blocks):
        if kind != "sh":
            continue
        output = ""
        for line in commands(block):
            examples += 1
            result = run(line, tmp_path)
            assert result.returncode == 0, f"{line}\n{result.stderr}"
            output += result.stdout
        if k + 1 < len(blocks) and blocks[k + 1][0] == "text" and commands(block):
            assert stripped(output) == stripped(blocks[k + 1][1]), block
    assert examples > 0


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """A folder as the examples of --help expect it: the demo's files, a finished run, two shards."""
    folder = tmp_path_factory.mktemp("help")
    flags = "hifi explain --model demo/model.json --data demo/data.csv --target y --exact --quiet"
    for line in ("hifi demo --keep demo", f"{flags} --out run.hifi", f"{flags} --shard 1/2 --out part1.hifi",
                 f"{flags} --shard 2/2 --out part2.hifi"):
        result = run(line, folder)
        assert result.returncode == 0, result.stderr
    return folder


@pytest.mark.parametrize("verb", ["demo", "explain", "plan", "resume", "merge", "decompose"])
def test_help(demo, verb):
    text = run(f"hifi {verb} --help", demo).stdout
    examples = commands(text.split("Example", 1)[1].split("\n", 1)[1])
    assert examples
    for line in examples:
        assert f"hifi {verb}" in line
        result = run(line, demo)
        assert result.returncode == 0, f"{line}\n{result.stderr}"


def test_demo_finds_the_planted_truth(tmp_path):
    found = json.loads(run("hifi demo --json -", tmp_path).stdout)
    value = {f["player"]: {key: f[key]["value"] for key in "URS"} for f in found["features"]}
    expected = {"unique": "U", "copy_a": "R", "copy_b": "R", "xor_1": "S", "xor_2": "S", "xor_3": "S", "noise": None}
    assert value == {player: {key: pytest.approx(float(key == channel), abs=1e-6) for key in "URS"}
                     for player, channel in expected.items()}
    assert os.listdir(tmp_path) == []
