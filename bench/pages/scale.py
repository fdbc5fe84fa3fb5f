"""Values of docs/scale.md: fits of growing tables beside peers, in memory and from disk, and costs of larger ones."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from bench.pages.markdown import number, table
from bench.pages.results import origins, read_section

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FILE", "digest_text", "draw_growth", "values"]

FILE, _SECTION = "scale.json", "peers"
_IN_MEMORY, _TREES, _FROM_DISK, _TRIED = "fits in memory", "boosted trees", "fits from disk, ", "settings tried"
# What the settings that were tried have in common, as the page says.
_COMMON = "schedule=one_cycle, dropout=0.0, "
_BILLION, _CORES = 10**9, 64
# In a fit of fewer rows what does not grow with them is most of what it takes.
_LEAST_ROWS = 100_000
# By title: colour and line; a model from files is drawn as the same model in memory, dashed.
_COLOURS = {
    "ALDSurvival": "#D55E00",
    "BoostedALD": "#CC79A7",
    "CoxRegression": "#E69F00",
    "WeibullAFT": "#6A3D9A",
    "lifelines Cox": "#0072B2",
    "scikit-survival Cox": "#56B4E9",
    "XGBoost aft": "#009E73",
    "XGBoost aft on Dask": "#66A61E",
    "Spark AFT": "#555555",
}
_FROM_FILES = ", from files"

Fits = Mapping[str, Mapping[str, Mapping[str, Any]]]


def values() -> dict[str, str]:
    """By name."""
    measured = read_section(FILE, _SECTION)
    fits: Fits = measured["fits"]
    sizes = sorted({int(size) for by_size in fits.values() for size in by_size})
    return {
        "date of scale": origins(FILE)[_SECTION].date,
        "scale columns": str(measured["columns"]),
        "scale cores": str(measured["threads"]),
        "scale seconds": f"{measured['seconds']:.0f}",
        "scale memory": f"{measured['GB']:.0f}",
        "scale largest": f"{sizes[-1]:,}",
        "scale truth": f"{_first(fits)['truth']:.4f}",
        "scale time": _by_size(fits, sizes, lambda fit: f"{number(fit['clock'], 3)} ({number(fit['processor'], 3)})"),
        "scale peak": _by_size(fits, sizes, lambda fit: f"{fit['peak MB']:.0f}"),
        "scale likelihood": _by_size(fits, sizes, lambda fit: f"{fit['log-likelihood']:.4f}"),
        "scale cost": _costs(fits),
        "scale cluster cores": str(_CORES),
        **_other_runs(),
    }


def _other_runs() -> dict[str, str]:
    """What was measured in separate runs: fits in memory by table, trees, fits from disk, and settings."""
    sections = origins(FILE)
    memory, trees = (read_section(FILE, section) for section in (_IN_MEMORY, _TREES))
    from_disk = [
        fit for section in sections if section.startswith(_FROM_DISK) for fit in read_section(FILE, section)["fits"]
    ]
    return {
        "scale in memory": _in_memory(memory["fits"], ("seconds", "processor seconds")),
        "scale in memory date": sections[_IN_MEMORY].date,
        "scale test rows": f"{memory['test rows']:,}",
        # Other programs ran beside them: the clock says little.
        "scale trees": _in_memory(trees["fits"], ("processor seconds",)),
        "scale trees date": sections[_TREES].date,
        "scale from disk": _from_disk(sorted(from_disk, key=lambda fit: int(fit["rows"]))),
        "scale tried": _tried(read_section(FILE, _TRIED)),
        "scale tried date": sections[_TRIED].date,
        "scale limit": f"{max(fit['limit of data, GB'] for fit in from_disk):g}",
    }


def draw_growth(measured: Mapping[str, Any]) -> Figure:
    """Seconds of processors, memory and held-out log-likelihood by the number of rows."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter

    figure = Figure(figsize=(8.4, 7.2), layout="constrained")
    *panels, legend = figure.subplots(2, 2).flat
    titles = ("Core-seconds from files to a fitted model", "Peak memory, GB", "Held-out log-likelihood below the truth")
    keys: tuple[Any, ...] = (
        lambda fit: fit["processor"],
        lambda fit: fit["peak MB"] / 1024,
        lambda fit: fit["truth"] - fit["log-likelihood"],
    )
    for ax, title, key in zip(panels, titles, keys, strict=True):
        for name, by_size in measured["fits"].items():
            _draw_line(ax, name, by_size, key)
        ax.set(xscale="log", yscale="log", xlabel="training rows")
        ax.set_title(title, fontsize=11, loc="left")
        ax.grid(visible=True, color="#e6e6e6", linewidth=0.7)
        ax.tick_params(which="both", labelsize=9)
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
        ax.yaxis.set_minor_formatter(FuncFormatter(lambda value, _: _between_powers(value)))
        ax.spines[["top", "right"]].set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    legend.set_axis_off()
    legend.legend(handles, labels, loc="center left", fontsize=9, frameon=False)
    return figure


def _between_powers(value: float) -> str:
    """Labels of 2 and 5 times a power of ten."""
    return f"{value:,.10g}" if f"{value:e}"[0] in "25" else ""


def digest_text(measured: Mapping[str, Any]) -> str:
    """What the picture shows."""
    return json.dumps(measured["fits"], sort_keys=True)


def _draw_line(ax: Axes, name: str, by_size: Mapping[str, Any], key: Any) -> None:
    done = sorted((int(size), fit) for size, fit in by_size.items() if "given up" not in fit)
    if not done:
        return
    from_files = name.endswith(_FROM_FILES)
    ax.plot(
        [rows for rows, _ in done],
        [key(fit) for _, fit in done],
        color=_COLOURS[name.removesuffix(_FROM_FILES)],
        linestyle="--" if from_files else "-",
        marker="o",
        markersize=3.5,
        linewidth=1.4,
        label=name,
    )


def _first(fits: Fits) -> Mapping[str, Any]:
    return next(fit for by_size in fits.values() for fit in by_size.values() if "given up" not in fit)


def _by_size(fits: Fits, sizes: list[int], text: Any) -> str:
    """A row per model and a column per number of rows."""
    rows = [
        [name, *(_cell(by_size.get(str(size)), text) for size in sizes)]
        for name, by_size in fits.items()
        if any("given up" not in fit for fit in by_size.values())
    ]
    return table(["model", *(f"{size:,} rows" for size in sizes)], rows)


def _cell(fit: Mapping[str, Any] | None, text: Any) -> str:
    if fit is None:
        return ""
    if "given up" in fit:
        return "failed" if fit["given up"].startswith("failed") else str(fit["given up"]).replace("more than", ">")
    return str(text(fit))


def _in_memory(fits: list[Mapping[str, Any]], seconds: Sequence[str]) -> str:
    """A row per table and model: seconds, memory, and in brackets after the log-likelihood that of the truth."""
    rows = [
        [
            f"{fit['rows']:,}",
            fit["law"].replace("-groups", " groups"),
            f"`{fit['model']}`" if "(" in fit["model"] else fit["model"].replace("survival:", ""),
            " ".join((number(fit[seconds[0]], 3), *(f"({number(fit[key], 3)})" for key in seconds[1:]))),
            str(fit["megabytes"]),
            f"{fit['log-likelihood']:.4f} ({fit['log-likelihood of the truth']:.4f})",
        ]
        for fit in sorted(fits, key=lambda fit: (fit["rows"], fit["law"]))
        if fit["rows"] >= _LEAST_ROWS
    ]
    return table(["rows", "times", "model", seconds[0], "MB", "log-likelihood (truth)"], rows, left=3)


def _from_disk(fits: list[Mapping[str, Any]]) -> str:
    """A row per fit."""
    rows = [
        [
            f"{fit['rows']:,}",
            str(fit["threads"]),
            f"{fit['seconds']:.0f} ({fit['processor seconds']:.0f})",
            f"{fit['steps']['training']:.0f}",
            f"{fit['rows per second']:,}",
            f"{fit['peak memory, GB']:.2f}",
            f"{fit['held-out log-likelihood']:.4f} ± {fit['standard error']:.4f}",
            f"{fit['true log-likelihood']:.4f}",
        ]
        for fit in fits
    ]
    head = [
        "rows", "threads", "seconds", "training", "rows per second", "peak GB", "log-likelihood", "truth",
    ]  # fmt: skip
    return table(head, rows)


def _tried(fits: list[Mapping[str, Any]]) -> str:
    """A row per setting and a column per table: loss beyond that of the truth, and seconds in brackets."""
    tables = list(dict.fromkeys(fit["table"] for fit in fits))
    by_settings: dict[str, dict[str, str]] = {}
    for fit in fits:
        cell = f"{fit['loss']:.5f} ({number(fit['processor seconds'])})"
        by_settings.setdefault(fit["settings"], {})[fit["table"]] = cell
    rows = [
        [_settings_text(settings), *(cells.get(name, "") for name in tables)] for settings, cells in by_settings.items()
    ]
    return table(["settings", *map(_table_text, tables)], rows)


def _settings_text(settings: str) -> str:
    """In code, with a blank between settings only, where a narrow cell may break."""
    parts = settings.removeprefix(_COMMON).split(", ")
    joined: list[str] = []
    for part in parts:
        # The numbers of a tuple are one setting.
        if joined and "=" not in part:
            joined[-1] += f", {part}"
        else:
            joined.append(part)
    return ", ".join(f"`{part}`" for part in joined)


def _table_text(name: str) -> str:
    """Of ``"100000 x 10, two-groups, seed 2"`` the rows and the law."""
    size, law, _ = name.split(", ")
    return f"{int(size.partition(' x ')[0]):,} rows, {law.replace('-groups', ' groups')}"


def _costs(fits: Fits) -> str:
    """A row per model: at its largest table, and what a billion rows would take if each cost as much."""
    rows = []
    for name, by_size in fits.items():
        done = sorted((int(size), fit) for size, fit in by_size.items() if "given up" not in fit)
        if len(done) < 2 or done[-1][0] < _LEAST_ROWS:
            continue
        (fewer, before), (most, fit) = done[-2:]
        per_row = fit["processor"] / most
        growth = math.log(fit["processor"] / before["processor"]) / math.log(most / fewer)
        bytes_per_row = max(0.0, fit["peak MB"] - before["peak MB"]) * 2**20 / (most - fewer)
        hours = per_row * _BILLION / 3600
        rows.append(
            [
                name,
                f"{most:,}",
                f"{growth:.2f}",
                number(1e6 * per_row, 3),
                number(bytes_per_row, 3),
                number(hours, 3),
                number(hours / _CORES, 2),
                number(bytes_per_row * _BILLION / 2**30, 3),
            ]
        )
    head = [
        "model", "rows", "power", "core-s per million rows", "bytes per row", "core-hours per billion rows",
        f"hours on {_CORES} cores", "GB for a billion rows",
    ]  # fmt: skip
    return table(head, rows)
