"""What is known to be wrong in the published evaluation, for readers who find other numbers here."""

from __future__ import annotations

from aldsurv.reports.page.page import Remarks

__all__ = ["NOTES"]

NOTES = Remarks(
    (
        (
            "IBS.",
            "The published Brier scores of LogNorm, DeepSurv and DeepHit were computed with F in place of S, "
            "CQRNN's with its median alone, and all with the Kaplan-Meier estimate of events, on the test rows, "
            "in place of that of censoring on the training rows. That ALD wins on 21 of 21 datasets is an "
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
            "It mixes the mean (ALD, LogNorm) with the median (the others). The same is shown here, to stand "
            "beside it, and ALD by all three summaries.",
        ),
        (
            "Cal[S] and Cal[f].",
            "Their columns are exchanged between the two big tables of the paper, and Uno's C of median and mode "
            "in the table by summary is not consistent with Harrell's C of the same rows.",
        ),
        (
            "WHAS and BreastMSK.",
            "WHAS has 735 distinct rows among its 1638, so that 229 of the published 328 test rows also stand in "
            "the training part, which flatters what memorises; BreastMSK has several samples of one patient. Both "
            "are also shown with such rows kept together.",
        ),
        (
            "SUPPORT.",
            "The published row of ALD comes out of neither the printed recipe nor the released training loop.",
        ),
        (
            "Recipe.",
            "The text has learning rate 0.01, early stopping and exp on θ; the released code has 0.001 with an "
            "oscillating schedule, no early stopping, and no exp on θ.",
        ),
        (
            "Synthetic data.",
            "The distributions printed in the paper are not those of the released code, which made its numbers: "
            "beside published numbers stand the released ones.",
        ),
        (
            "Scaling.",
            "The released code fits its scalers on all rows, test rows too; here on training rows only.",
        ),
        (
            "Tests.",
            "A t test over runs takes them for independent, but runs on a real dataset share rows: it finds "
            "differences too readily. The table by the corrected resampled test stands beside that of the "
            "paper's.",
        ),
    )
)
