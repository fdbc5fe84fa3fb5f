"""Everything that shows or exports a model names it by the same digest: the one in its file."""

import json
from pathlib import Path

import pytest

import aldsurv
from aldsurv.cli.main import main
from aldsurv.errors import ModelFileError
from aldsurv.files import file_digest
from aldsurv.files.model_file import read_model_file, write_model_file
from aldsurv.models.persistence import model_digest
from export.javascript.node import needs_node, run_script

FROZEN = Path(__file__).parents[1] / "models" / "frozen"


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A model of another version, whose digest is not that of the same model saved now."""
    document, arrays = read_model_file(FROZEN / "weibull_aft_ridge.aldsurv")
    path = tmp_path_factory.mktemp("older") / "risk.aldsurv"
    return write_model_file(path, {**document, "version": "0.0.9"}, arrays)


@pytest.fixture(scope="module")
def digest(file):
    """As the format defines it: in the header, whose length the first eight bytes are."""
    content = file.read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    found = header["__metadata__"]["sha256"]
    assert found != model_digest(aldsurv.load(file))
    return found


def test_a_file_has_one_digest(file, digest):
    assert file_digest(file) == digest


def test_a_damaged_file_has_none(file, tmp_path):
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    (tmp_path / "damaged.aldsurv").write_bytes(content)
    with pytest.raises(ModelFileError, match="checksum"):
        file_digest(tmp_path / "damaged.aldsurv")


def test_info_shows_it(file, digest, capsys):
    assert main(["info", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["digest"] == digest
    assert main(["info", str(file)]) == 0
    assert digest in capsys.readouterr().out


def test_a_graph_has_it(file, digest, tmp_path):
    onnx = pytest.importorskip("onnx")
    assert main(["export", str(file), "--onnx", str(tmp_path / "risk.onnx"), "--quiet"]) == 0
    properties = {entry.key: entry.value for entry in onnx.load(tmp_path / "risk.onnx").metadata_props}
    assert properties["digest"] == digest


def test_the_card_and_the_service_show_it(file, digest, capsys):
    assert main(["card", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"]["file"] == {"name": "risk.aldsurv", "sha256": digest}
    assert main(["card", str(file)]) == 0
    assert digest in capsys.readouterr().out
    pytest.importorskip("starlette")
    from aldsurv.serving import ServedModel

    assert ServedModel.load(file).identity == {"name": "risk", "digest": digest, "version": "0.1.0"}


@needs_node
def test_the_calculator_shows_it(file, digest):
    # The page holds the bytes of the file, and computes the digest from them.
    [answer] = run_script("predict.mjs", {"cases": [{"path": str(file), "rows": [], "what": [], "asked": []}]})
    assert answer["facts"]["digest"] == digest
