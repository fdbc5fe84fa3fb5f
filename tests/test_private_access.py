"""No package of aldsurv reads the private names of another: what others need is public."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

import pytest

import aldsurv
from bench.house import Module, private_accesses, read_modules


def accesses(files: Mapping[str, str]) -> list[str]:
    modules = [Module(Path(path), text, ast.parse(text)) for path, text in files.items()]
    return [f"{access.path.as_posix()}:{access.line} {access.name}" for access in private_accesses(modules)]


def test_no_private_name_of_another_room_is_read():
    found = private_accesses(read_modules(Path(aldsurv.__file__).parent))
    assert [f"{access.path.as_posix()}:{access.line} {access.name}" for access in found] == []


@pytest.mark.parametrize(
    "code",
    [
        "from aldsurv.data import _rows",
        "from aldsurv.data import _rows as rows",
        "from aldsurv.data._rows import order",
        "import aldsurv.data._rows",
        "from aldsurv.data import rows\nrows._order()",
        "from aldsurv import data\ndata._order()",
        "import aldsurv.data.rows as rows\nrows._order()",
        "def name(model):\n    return model._name",
        "def name(model):\n    return model.inner[0]._name",
        "def name(model):\n    return getattr(model, '_name', None)",
        "def rename(model):\n    model._name = 'x'",
        "def inside():\n    from aldsurv.data import _rows",
        "import os\nos._exit(0)",
        # What is imported from elsewhere is not this room's, whatever names this room has.
        "from aldsurv.data import Rows\nclass Model:\n    def _order(self): ...\nRows._order()",
    ],
)
def test_reading_of_another_room_is_seen(code):
    assert len(accesses({"models/module.py": code, "data/rows.py": "def _order(): ..."})) == 1


@pytest.mark.parametrize(
    "code",
    [
        "from aldsurv.models.base import _checked",
        "from aldsurv.models import base\nbase._checked()",
        "def name(model):\n    return model._title",
        "def members(model):\n    return model._members",
        "def slot(model):\n    return model._slot",
        "def frozen(model):\n    return model._frozen",
        "class Model(Base):\n    def name(self):\n        return self._of_base, super()._of_base, type(self)._of_base",
        "class Model(Base):\n    @classmethod\n    def name(cls):\n        return getattr(cls, '_of_base')",
        "def moved(point):\n    return point._replace(x=1), point.__class__, point.public",
    ],
)
def test_names_of_the_own_room_may_be_read(code):
    base = (
        "def _checked(): ...\n"
        "class Model:\n"
        "    __slots__ = ('_slot',)\n"
        "    _title = 'x'\n"
        "    def __init__(self):\n"
        "        self._members = 1\n"
        "        object.__setattr__(self, '_frozen', 2)\n"
    )
    assert accesses({"models/module.py": code, "models/base.py": base, "data/rows.py": "_of_base = 1"}) == []
