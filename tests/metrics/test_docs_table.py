"""The table of metrics in the docs is that of the records."""

from __future__ import annotations

from pathlib import Path

from aldsurv.registry import METRICS, MetricRecord

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
BEGIN, END = "<!-- metrics by name -->\n", "<!-- end metrics by name -->\n"


def table() -> str:
    """Rows of the table, in the order of the records."""
    head = "| name | function | scorer | best | needs | causes | what it is |\n"
    head += "| --- | --- | --- | --- | --- | --- | --- |\n"
    return head + "".join(table_row(record) for record in METRICS.records())


def table_row(record: MetricRecord) -> str:
    best = "high" if record.ideal is None else f"{record.ideal:g}"
    needs = ["training rows"] if record.train == "required" else []
    needs += [f"`{record.time_argument}`"] if record.time_argument else []
    function, causes = f"`{record.function_name}`", "" if record.causes == "none" else record.causes
    return (
        f"| `{record.name}` | {function} | `{record.scorer}` | {best} | {', '.join(needs)} | {causes} | "
        f"{record.title}: {record.purpose} |\n"
    )


def test_the_table_of_the_docs_is_that_of_the_records():
    text = PAGE.read_text(encoding="utf-8")
    assert text.split(BEGIN)[1].split(END)[0].strip() == table().strip()
