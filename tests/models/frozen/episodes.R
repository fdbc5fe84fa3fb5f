# Cox regression with covariates that change, by R's survival: coefficients, their errors, log-likelihoods, and the
# survival along a path. Writes episodes_r.json beside it: Rscript episodes.R (needs r-cran-survival, r-cran-jsonlite).
library(survival)
library(jsonlite)

RNGversion("4.2.0")
set.seed(20)
people <- 60
rows <- list()
for (k in 1:people) {
  age <- round(rnorm(1), 3)
  entry <- if (k %% 5 == 0) round(runif(1, 0.1, 0.8), 4) else 0
  visits <- sort(round(runif(sample(0:3, 1), 0.2, 4), 4))
  visits <- unique(visits[visits > entry])
  cuts <- c(entry, visits, Inf)
  start <- entry
  dose <- 0
  for (j in seq_len(length(cuts) - 1)) {
    wait <- round(rexp(1, 0.25 * exp(0.5 * age - 0.7 * dose)), 5) + 1e-5
    leave <- round(min(rexp(1, 0.08), 6), 5) + 2e-5
    stop <- round(min(cuts[j + 1], start + wait, start + leave), 5)
    event <- as.integer(start + wait < min(cuts[j + 1], start + leave))
    rows[[length(rows) + 1]] <- data.frame(id = k, start = start, stop = stop, event = event, age = age, dose = dose,
      sex = k %% 2)
    if (stop < cuts[j + 1]) break
    start <- stop
    dose <- round(dose + runif(1, 0, 1), 3)
  }
}
drawn <- do.call(rbind, rows)

result <- function(fit) list(
  coefficients = unname(coef(fit)), errors = unname(sqrt(diag(fit$naive.var))), robust = unname(sqrt(diag(vcov(fit)))),
  log_likelihood = fit$loglik)

fit <- coxph(Surv(start, stop, event) ~ age + dose, drawn, cluster = id)
by_sex <- coxph(Surv(start, stop, event) ~ age + dose + strata(sex), drawn, cluster = id)
path <- data.frame(start = c(0, 1.5, 3), stop = c(1.5, 3, 8), event = 0, age = 0.4, dose = c(0, 0.8, 1.9), id = 1)
curve <- survfit(fit, newdata = path, id = id)
times <- c(0.7, 1.6, 2.9, 3.3, 4.4)
heart_fit <- coxph(Surv(start, stop, event) ~ age + year + surgery + transplant, heart, cluster = id)
write_json(
  list(
    versions = list(R = R.version.string, survival = as.character(packageVersion("survival"))),
    table = as.list(drawn),
    cox = result(fit),
    cox_by_sex = result(by_sex),
    path = c(as.list(path), list(times = times, survival = summary(curve, times = times)$surv)),
    heart = result(heart_fit)
  ),
  "episodes_r.json", digits = NA, auto_unbox = TRUE, pretty = FALSE
)
print(table(table(drawn$id))); print(sum(drawn$event)); print(fit); print(anyDuplicated(drawn$stop[drawn$event == 1]))
