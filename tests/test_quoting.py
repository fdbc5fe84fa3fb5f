"""Names and values of others in messages."""

from __future__ import annotations

import pytest

from aldsurv.columns.features import Features
from aldsurv.data.survival_data import SurvivalData
from aldsurv.errors import AldsurvError
from aldsurv.quoting import printable, quoted, shortened

LONG = "column " * 10_000


def test_short_values_are_as_python_writes_them() -> None:
    assert [quoted(value) for value in ("age", 3, 2.5, None, ["a"])] == ["'age'", "3", "2.5", "None", "['a']"]
    assert quoted("x" * 70) == repr("x" * 70)


@pytest.mark.parametrize("value", [LONG, [LONG] * 3, list(range(10_000))])
def test_long_values_are_cut(value: object) -> None:
    assert len(quoted(value)) <= 72
    assert "…" in quoted(value)
    assert len(quoted(value, 20)) <= 20


def test_both_ends_of_a_long_text_stay() -> None:
    assert shortened("abcdefghij", 10) == "abcdefghij"
    assert shortened("abcdefghijk", 5) == "ab…jk"
    assert [len(shortened("x" * 100, most)) for most in (1, 2, 3, 60)] == [1, 2, 3, 60]


def test_nothing_that_moves_a_cursor_is_left() -> None:
    hostile = "\x1b]0;title\x07\x9b31m\u202e\r\n\udcff é 漢"
    assert printable(hostile).isprintable()
    assert printable(hostile).endswith(r"\udcff é 漢")
    assert quoted(hostile).isprintable()


@pytest.mark.parametrize(
    "refused",
    [
        lambda: SurvivalData.from_frame({LONG: [1.0], "e": [1]}, time="t", event="e"),
        lambda: SurvivalData.from_frame({LONG: ["a"], "e": [1]}, time=LONG, event="e"),
        lambda: SurvivalData.right([1.0], [LONG], event_value="dead"),
        lambda: SurvivalData.right([1.0], ["dead"], event_value=LONG),
        lambda: Features.learn({"a": [1.0, 2.0]}, categorical=[LONG]),
        lambda: Features.learn({LONG: [1.0, 2.0]}).transform({"b": [1.0]}),
        lambda: Features.learn({LONG: [b"x", b"y"]}),
    ],
)
def test_messages_stay_short(refused) -> None:
    with pytest.raises(AldsurvError) as caught:
        refused()
    assert len(str(caught.value)) < 600


def test_warnings_about_many_columns_stay_short() -> None:
    table = {f"column number {k} of the table": [1.0, 1.0] for k in range(5000)}
    with pytest.warns(UserWarning, match="one value only: column 'column number 0 .* and 4988 more") as caught:
        Features.learn({**table, "x": [1.0, 2.0]})
    assert len(str(caught[0].message)) < 1000
