"""The report of rows whose outcomes are known in part: delayed entry, left- and interval-censoring."""
