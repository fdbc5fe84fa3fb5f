"""A page that computes a model's predictions in the browser."""

from aldsurv.export.calculator.page_builder import build_page

__all__ = ["build_page"]
