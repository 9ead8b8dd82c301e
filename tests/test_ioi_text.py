"""The words of the indirect-object task are single tokens, in GPT-2's vocabulary and in the small model's."""

import json
import sys

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "models"))
import byte_bpe  # noqa: E402
import ioi_text as text  # noqa: E402

SMALL = ROOT / "models" / "ioi-small"


@pytest.fixture(params=["small", "gpt2"])
def vocabulary(request):
    """(folder, the judge's tokenizer)."""
    tokenizers = pytest.importorskip("tokenizers")
    folder = SMALL if request.param == "small" else request.getfixturevalue("shared") / "data" / "gpt2"
    return folder, tokenizers.ByteLevelBPETokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"))


def test_every_word_is_one_token(vocabulary):
    _, judge = vocabulary
    assert {word: len(judge.encode(word).ids) for word in text.all_words()} == dict.fromkeys(text.all_words(), 1)


def test_sentences_are_their_words(vocabulary):
    folder, judge = vocabulary
    ids = json.loads((folder / "vocab.json").read_text())
    for template in text.TEMPLATES[::5]:
        line = text.sentence(template, "Mary", "John", "Tom", "park", "ring")
        assert judge.encode(line).ids == [byte_bpe.token_id(ids, word) for word in text.words(line)], line


def test_files_are_those_of_the_script(tmp_path):
    byte_bpe.write(tmp_path, *byte_bpe.build([word for word in text.all_words() if len(word) > 1]))
    for name in ("vocab.json", "merges.txt"):
        assert (tmp_path / name).read_text() == (SMALL / name).read_text()
    assert (SMALL / "model.safetensors").stat().st_size < 2_000_000
