"""A hook of mkdocs: each entry of the reference links to its lines in a page with the source of the module."""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

from mkdocs.utils import get_relative_url
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

import aldsurv

_LINK = re.compile(r'<a class="doc-source" data-file="([^"]+)" data-line="(\d+)">Source</a>')
_ROOT = Path(aldsurv.__file__).parents[1]
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>{module} – aldsurv</title>
<link rel="stylesheet" href="{css}">
</head>
<body>
<h1>{module}</h1>
<p><a href="{reference}">Reference</a></p>
{code}
</body>
</html>
"""
# Both themes by the preference of the system, as the other pages do until a reader chooses.
_STYLE = """body {{ background: #fff; color: #222; font: 16px sans-serif; margin: 1rem; }}
h1 {{ font-size: 1.2rem; overflow-wrap: anywhere; }}
a {{ color: #00695c; }}
pre {{ font-size: 0.85rem; line-height: 1.4; overflow-x: auto; }}
:target {{ background: #8884; }}
{light}
@media (prefers-color-scheme: dark) {{
body {{ background: #1e2129; color: #e2e4e9; }}
a {{ color: #4db6ac; }}
{dark}
}}
"""
_used: set[str] = set()


def on_pre_build(**_: Any) -> None:
    """Forget the build before."""
    _used.clear()


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Point the links to the pages of the modules."""

    def link(match: re.Match[str]) -> str:
        file = PurePosixPath(match[1].replace("\\", "/")).as_posix()
        _used.add(file)
        address = get_relative_url(f"{_address(file)}#L-{match[2]}", page.url)
        return f'<p class="doc-source"><a href="{address}">Source</a></p>'

    return _LINK.sub(link, content)


def _address(file: str) -> str:
    return f"source/{file.removesuffix('.py')}.html"


def on_post_build(config: Any, **_: Any) -> None:
    """Write the pages that something links to, and their colours."""
    site = Path(config.site_dir)
    formatter = HtmlFormatter(lineanchors="L", linenos=False)
    for file in sorted(_used):
        target = site / _address(file)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = _PAGE.format(
            module=file.removesuffix(".py").replace("/", "."),
            css=get_relative_url("source/source.css", _address(file)),
            reference=get_relative_url("reference/index.html", _address(file)),
            code=highlight((_ROOT / file).read_text(encoding="utf-8"), PythonLexer(), formatter),
        )
        target.write_text(text, encoding="utf-8")
    light, dark = (HtmlFormatter(style=name).get_style_defs(".highlight") for name in ("xcode", "github-dark"))
    (site / "source" / "source.css").write_text(_STYLE.format(light=light, dark=dark), encoding="utf-8")
