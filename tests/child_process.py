"""What a test passes on to an interpreter that it starts, and what of its standard error is ours.

Variables that choose among a processor's instruction sets reach the child, or its numbers differ from the parent's.
What libraries print about such a variable is not a message of aldsurv.
"""

from __future__ import annotations

import os
import re

# Read by torch (ATen, oneDNN, MKL), numpy and OpenBLAS while they are imported.
MACHINE_VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "MKL_CBWR",
    "MKL_ENABLE_INSTRUCTIONS",
    "NPY_DISABLE_CPU_FEATURES",
    "OMP_NUM_THREADS",
    "OPENBLAS_CORETYPE",
)
# Every warning is an error, except those of numpy and torch about a feature that the processor or the build lacks.
WARNINGS = (
    "error",
    "ignore:During parsing environment variable:ImportWarning",
    "ignore:ignoring invalid value for ATEN_CPU_CAPABILITY:UserWarning",
)
WARNING_OPTIONS = [word for warning in WARNINGS for word in ("-W", warning)]
_OF_LIBRARIES = re.compile(
    r"^(Intel )?(oneAPI )?MKL (WARNING|ERROR): .*\n|^OpenBLAS ?(WARNING|:).*\n|^onednn_verbose.*\n",
    re.MULTILINE | re.IGNORECASE,
)


def machine_variables() -> dict[str, str]:
    """Variables of this process that choose instruction sets, for a child with an environment of its own."""
    return {"OMP_NUM_THREADS": "1"} | {name: os.environ[name] for name in MACHINE_VARIABLES if name in os.environ}


def without_machine_warnings(text: str) -> str:
    """Standard error of a child without what libraries print about the processor."""
    return _OF_LIBRARIES.sub("", text)
