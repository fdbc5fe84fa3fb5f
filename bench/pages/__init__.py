"""Pages whose numbers come from results files: ``python -m bench.pages`` writes them, ``--check`` compares them.

On a page a table stands between ``<!-- name -->`` and ``<!-- end name -->``, a number in a sentence between
``<!-- = name -->`` and ``<!-- / -->``. A module per page has ``values()``, which gives the text of each name; it reads
docs/results, and `bench.pages.listing` names page and module.
"""
