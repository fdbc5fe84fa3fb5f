"""How good the predictions are: numbers, verdicts in words, subgroups and cautions."""
