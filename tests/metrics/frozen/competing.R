# Rscript competing.R : writes competing.json beside it, by R's riskRegression (2022.11.28), pec (2022.05.04) and
# cmprsk (2.2-11). Of each row the predicted incidences are (1 - exp(-rate·t)) times the share of the cause.
suppressMessages({
  library(survival); library(prodlim); library(riskRegression); library(pec); library(cmprsk); library(jsonlite)
})

set.seed(11)
n <- 160
x <- rnorm(n)
z <- rnorm(n)
first <- rexp(n, 0.10 * exp(0.8 * x))
second <- rexp(n, 0.07 * exp(0.5 * z))
lost <- runif(n, 0, 18)
time <- round(pmin(first, second, lost), 5)
cause <- ifelse(lost <= pmin(first, second), 0, ifelse(first <= second, 1, 2))
# Predictions are not quite the truth, and some are equal.
rate <- round(cbind(0.13 * exp(0.6 * x), 0.06 * exp(0.6 * z)), 2) + 0.01
rows <- data.frame(time, cause, rate1 = rate[, 1], rate2 = rate[, 2])
stopifnot(!anyDuplicated(time))

incidence <- function(times, k) {
  total <- rowSums(rate)
  sapply(times, function(t) rate[, k] / total * (1 - exp(-total * t)))
}

times <- c(1, 2, 4, 6, 9)
one <- function(k) {
  risks <- incidence(times, k)
  scored <- Score(
    list(model = risks), Hist(time, cause) ~ 1, data = rows, times = times, cause = k, cens.model = "km",
    metrics = c("auc", "brier"), se.fit = FALSE, null.model = TRUE, split.method = "none"
  )
  brier <- as.data.frame(scored$Brier$score)
  auc <- as.data.frame(scored$AUC$score)
  concordance <- cindex(
    list(model = incidence(6, k)), Hist(time, cause) ~ 1, data = rows, eval.times = c(6, 12), pred.times = 6, cause = k,
    cens.model = "marginal"
  )
  # Observed incidence among rows of like predictions: Fine-Gray on a restricted cubic spline of three knots.
  risk <- incidence(5, k)[, 1]
  u <- log(-log(1 - risk))
  knot <- quantile(u, c(0.1, 0.5, 0.9), type = 1)
  cube <- sapply(knot, function(v) pmax(u - v, 0)^3)
  spline <- cbind(u, (cube[, 1] - cube[, 2] * (knot[3] - knot[1]) / (knot[3] - knot[2]) +
    cube[, 3] * (knot[2] - knot[1]) / (knot[3] - knot[2])) / (knot[3] - knot[1])^2)
  spline <- scale(spline)
  fit <- crr(time, cause, spline, failcode = k, gtol = 1e-12, maxiter = 50)
  before <- sum(fit$bfitj[fit$uftime <= 5])
  observed <- 1 - exp(-before * exp(spline %*% fit$coef))[, 1]
  list(
    brier = brier$Brier[brier$model == "model"], brier_null = brier$Brier[brier$model == "Null model"],
    auc = auc$AUC[auc$model == "model"],
    cindex = concordance$AppCindex$model,
    observed = observed
  )
}

here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
result <- list(rows = as.list(rows), times = times, tau = c(6, 12), causes = list("1" = one(1), "2" = one(2)))
write(toJSON(result, digits = 12, auto_unbox = TRUE), file.path(here, "competing.json"))
