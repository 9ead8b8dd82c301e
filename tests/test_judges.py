"""The stored answers of transformers, Captum and Quantus are what these libraries say today; setup/judges.sh installs them."""

import subprocess

import pytest
from conftest import ROOT

FIXTURES = ROOT / "tests" / "fixtures"


@pytest.mark.full
@pytest.mark.parametrize("script", ["gpt2/make_fixtures.py", "gradients/make.py", "metrics/make.py"])
def test_stored_answers_are_the_owners(script):
    result = subprocess.run([ROOT / ".judges" / "bin" / "python", FIXTURES / script, "--check"], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
