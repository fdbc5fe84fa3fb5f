"""Known errors of the published evaluation, which explain why some numbers differ from the paper."""

from __future__ import annotations

from aldsurv.reports.page.page import Remarks

__all__ = ["NOTES"]

NOTES = Remarks(
    (
        (
            "IBS.",
            "The published Brier scores of LogNorm, DeepSurv and DeepHit were computed with F in place of S, "
            "CQRNN's with its median alone, and all with the Kaplan-Meier estimate of events, on the test rows, "
            "in place of that of censoring on the training rows. That ALD is best on 21 of 21 datasets is an "
            "artefact. With the true distribution as prediction (norm_linear / weibull / exponential) the "
            "definition gives 0.162 / 0.119 / 0.206; S with the events' Kaplan-Meier 0.264 / 0.199 / 0.291 "
            "(published for ALD: 0.278 / 0.219 / 0.309); F in place of S with it 0.699 / 0.992 / 0.482 (published "
            "for DeepSurv: 0.676 / 0.969 / 0.486).",
        ),
        (
            "CQRNN and LogNorm.",
            "Their released losses broadcast (B, 1) against (B,), which mixes rows: those baselines are undertrained.",
        ),
        (
            "CensDcal and Cal[f].",
            "They were computed on different grids for different models; here F(y|x) is exact for every model.",
        ),
        (
            "MAE.",
            "It mixes the mean (ALD, LogNorm) with the median (the others). The same is shown here for comparison, and "
            "ALD by all three summaries.",
        ),
        (
            "Cal[S] and Cal[f].",
            "Their columns are exchanged between the two big tables of the paper, and Uno's C of median and mode "
            "in the table by summary is not consistent with Harrell's C of the same rows.",
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
