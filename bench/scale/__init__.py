"""Large drawn tables, and what fits of them cost: seconds, memory and held-out log-likelihood beside XGBoost's."""
