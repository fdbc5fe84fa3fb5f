# Rscript competing.R : writes competing.json beside it, by R's survival (3.5-3) and cmprsk (2.2-11).
library(survival)
library(cmprsk)
library(jsonlite)

set.seed(20)
draw <- function(n, coarse) {
  group <- sample(c("a", "b", "c"), n, replace = TRUE)
  stratum <- sample(1:2, n, replace = TRUE)
  rate <- c(a = 0.10, b = 0.16, c = 0.12)[group] * ifelse(stratum == 1, 1, 1.3)
  first <- rexp(n, rate)
  second <- rexp(n, 0.08)
  lost <- runif(n, 0, 15)
  time <- pmin(first, second, lost)
  cause <- ifelse(lost <= pmin(first, second), 0, ifelse(first <= second, 1, 2))
  if (coarse) time <- ceiling(time)
  data.frame(time = round(time, 4), cause = cause, group = group, stratum = stratum)
}

one <- function(n, coarse) {
  rows <- draw(n, coarse)
  curves <- cuminc(rows$time, rows$cause)
  times <- c(1, 2, 3, 5, 8)
  at <- timepoints(curves, times)
  states <- factor(rows$cause, 0:2, c("censored", "1", "2"))
  fit <- survfit(Surv(time, state) ~ 1, data = transform(rows, state = states))
  found <- summary(fit, times = times)
  loglog <- summary(survfit(Surv(time, state) ~ 1, data = transform(rows, state = states), conf.type = "log-log"), times = times)
  tests <- function(...) unclass(cuminc(rows$time, rows$cause, rows$group, ...)$Tests)
  two <- rows$group != "c"
  list(
    rows = as.list(rows), times = times,
    cuminc = list(incidence = at$est, variance = at$var),
    survfit = list(
      incidence = t(found$pstate[, -1]), std = t(found$std.err[, -1]),
      lower = t(loglog$lower[, -1]), upper = t(loglog$upper[, -1])
    ),
    gray = list(
      "0" = tests(), "1" = tests(rho = 1), "-1" = tests(rho = -1), strata = tests(strata = rows$stratum),
      two = unclass(cuminc(rows$time[two], rows$cause[two], rows$group[two])$Tests)
    ),
    log_rank = list(
      "0" = survdiff(Surv(time, cause > 0) ~ group, rows)$chisq,
      "1" = survdiff(Surv(time, cause > 0) ~ group, rows, rho = 1)$chisq,
      strata = survdiff(Surv(time, cause > 0) ~ group + strata(stratum), rows)$chisq
    )
  )
}

here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
write(toJSON(list(fine = one(90, FALSE), coarse = one(120, TRUE)), digits = 12, auto_unbox = TRUE), file.path(here, "competing.json"))
