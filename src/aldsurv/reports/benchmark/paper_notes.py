"""Remarks on the paper that no table of the report makes."""

from __future__ import annotations

from aldsurv.reports.page.page import Remarks

__all__ = ["NOTES"]

NOTES = Remarks(
    (
        (
            "Metrics.",
            "The code released with the paper deviates from the definitions in the ways that the ledger lists, each as "
            "a switch. That ALD has the best IBS on 21 of 21 datasets, and that it excels under heavy censoring, are "
            "artefacts of these deviations.",
        ),
        (
            "Baselines.",
            "CQRNN and LogNorm come from a training loop that divides the learning rate by 10 after 70 % and again "
            "after 90 % of the epochs, which the paper does not mention; recipe “paper” does the same. LogNorm's "
            "published loss mixes rows; recipe “paper” has the right one, and the published way the mixed one.",
        ),
        (
            "MAE.",
            "It mixes the mean (ALD, LogNorm) with the median (the others). The same is shown here for comparison, and "
            "ALD by all three summaries.",
        ),
        (
            "Table by summary.",
            "Its Uno's C of median and mode is not consistent with Harrell's C of the same rows, and its columns "
            "Cal[S] and Cal[f] are exchanged with respect to the full table.",
        ),
        (
            "WHAS and BreastMSK.",
            "WHAS has 735 distinct rows among its 1638, so 229 of the published 328 test rows are also in the training "
            "part, which favours models that memorise rows; BreastMSK has several samples per patient. Both are also "
            "shown with such rows kept together.",
        ),
        (
            "TMBImmuno.",
            "Its covariate “Age at Which Sequencing was Reported (Days)” is in years: in its 1660 rows the values are "
            "whole numbers from 15 to 90 with median 63, and 1517 of them lie within the age group in years that the "
            "same row states. Covariates are standardised, so that no result depends on it.",
        ),
        (
            "SUPPORT.",
            "The published results of ALD are reproduced by neither the printed recipe nor the released training loop.",
        ),
        (
            "Recipe.",
            "The text has learning rate 0.01, early stopping and exp on θ; the released code has 0.001 with an "
            "oscillating schedule, no early stopping, and no exp on θ.",
        ),
        (
            "Synthetic data.",
            "The distributions printed in the paper are not those of the released code, which produced its numbers: "
            "published numbers are compared with results on the released ones.",
        ),
        (
            "Scaling.",
            "The released code fits its scalers on all rows, test rows too; here on training rows only.",
        ),
        (
            "Tests.",
            "A t test over runs assumes that they are independent, but runs on a real dataset share rows: it rejects "
            "too often. A table by the corrected resampled t test is shown beside the one by the paper's test.",
        ),
    )
)
