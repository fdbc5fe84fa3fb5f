"""Settings for all tests: the same examples on every run, unless asked for others."""

import os

import torch
from hypothesis import HealthCheck, settings

settings.register_profile(
    "steady",
    derandomize=True,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.register_profile("search", parent=settings.get_profile("steady"), derandomize=False, max_examples=200)
settings.load_profile(os.environ.get("ALDSURV_HYPOTHESIS", "steady"))
torch.set_num_threads(1)
