# Rscript calibration.R : writes calibration.json beside it, by R's survival (3.5-3), rms (6.5-0) and cmprsk (2.2-11).
# Predicted are log-normal times, which are not of proportional hazards, Weibull times, which are, and for two causes
# exponential times: the incidence of cause k is (1 - exp(-total·t)) times rate_k/total.
suppressMessages({
  library(survival); library(rms); library(cmprsk); library(jsonlite)
})

set.seed(21)
n <- 180
x <- rnorm(n)
truth <- 8 * exp(-0.5 * x) * rweibull(n, 1.3)
lost <- runif(n, 1, 16)
time <- round(pmin(truth, lost), 5)
event <- as.integer(truth <= lost)
scale <- round(7 * exp(-0.9 * x + rnorm(n, 0, 0.4)), 3)
# The same in ticks of a clock, with weights that are numbers of rows; and with delayed entry.
tick <- ceiling(time)
weight <- sample(1:3, n, replace = TRUE)
entry <- round(runif(n, 0, 0.8) * time * rbinom(n, 1, 0.6), 5)
at <- 5

weibull <- function(t) (t / scale)^1.3
log_normal <- function(t) -plnorm(t, log(scale), 0.8, lower.tail = FALSE, log.p = TRUE)

slope_at <- function(y, d, hazard, t, w = rep(1, n), ties = "efron") {
  lp <- log(hazard(t))
  fit <- coxph(Surv(pmin(y, t), d * (y <= t)) ~ lp, weights = w, ties = ties)
  # Weights that are numbers of rows: no robust variance.
  stopifnot(is.null(fit$naive.var))
  by_rms <- if (all(w == 1)) unname(coef(cph(Surv(pmin(y, t), d * (y <= t)) ~ lp, method = ties))) else NULL
  list(slope = unname(coef(fit)), se = sqrt(vcov(fit)[1, 1]), limits = unname(confint(fit)[1, ]), rms = by_rms)
}
mean_at <- function(y, d, hazard, t, w = rep(1, n)) {
  rows <- rep(seq_len(n), w)
  curve <- summary(survfit(Surv(y[rows], d[rows]) ~ 1), times = t)
  observed <- 1 - curve$surv
  expected <- mean((1 - exp(-hazard(t)))[rows])
  z <- qnorm(0.975)
  list(
    observed = observed, expected = expected, ratio = observed / expected,
    ratio_limits = observed / expected * exp(c(-1, 1) * z * curve$std.err / observed),
    difference_limits = observed - expected + c(-1, 1) * z * curve$std.err
  )
}
# Follow-up is cut at the deciles of the event times; lp is the log of the rise of the hazard between two of them.
overall <- function(y, d, hazard, w = rep(1, n), start = rep(0, n), whole = FALSE) {
  expected <- hazard(y) - ifelse(start > 0, hazard(start), 0)
  large <- glm(d ~ offset(log(expected)), family = poisson, weights = w, control = list(epsilon = 1e-14))
  deciles <- unique(unname(quantile(rep(y[d == 1], w[d == 1]), (1:9) / 10, type = 1)))
  rows <- data.frame(id = seq_len(n), start, y, d)
  parts <- survSplit(Surv(start, y, d) ~ ., rows, cut = deciles[deciles < max(y)], episode = "part")
  bounds <- c(0, deciles[deciles < max(y)], max(y))
  rise <- sapply(seq_along(bounds)[-1], function(k) log(hazard(bounds[k]) - (if (k > 2) hazard(bounds[k - 1]) else 0)))
  rise <- sweep(rise, 2, apply(rise, 2, weighted.mean, w))
  at <- function(t) sapply(seq_along(t), function(j) if (t[j] > 0) hazard(t[j])[parts$id[j]] else 0)
  parts$lp <- rise[cbind(parts$id, parts$part)]
  parts$offset <- log(at(parts$y) - at(parts$start)) - parts$lp
  slope <- glm(
    d ~ lp + offset(offset), family = poisson, data = parts, weights = w[parts$id],
    control = list(epsilon = 1e-14, maxit = 100)
  )
  # Of proportional hazards rows need not be cut: then it is the regression of Crowson, Atkinson and Therneau.
  if (whole) {
    lp <- log(hazard(1))
    uncut <- glm(d ~ lp + offset(log(expected) - lp), family = poisson, weights = w, control = list(epsilon = 1e-14))
    stopifnot(all.equal(coef(uncut)[[2]], coef(slope)[[2]], tolerance = 1e-9))
    stopifnot(all.equal(vcov(uncut)[2, 2], vcov(slope)[2, 2], tolerance = 1e-7))
  }
  limits <- function(fit, k) coef(fit)[[k]] + c(-1, 1) * qnorm(0.975) * sqrt(vcov(fit)[k, k])
  list(
    observed = sum(w * d), expected = sum(w * expected), intercept = coef(large)[[1]],
    intercept_limits = limits(large, 1), slope = coef(slope)[[2]], se = sqrt(vcov(slope)[2, 2]),
    slope_limits = limits(slope, 2)
  )
}

sets <- list()
for (name in c("weibull", "log_normal")) {
  hazard <- get(name)
  whole <- name == "weibull"
  sets[[name]] <- list(
    plain = list(at = slope_at(time, event, hazard, at), mean = mean_at(time, event, hazard, at),
      overall = overall(time, event, hazard, whole = whole)),
    ties = list(at = slope_at(tick, event, hazard, at, weight, "breslow"),
      mean = mean_at(tick, event, hazard, at, weight), overall = overall(tick, event, hazard, weight, whole = whole)),
    entry = list(overall = overall(time, event, hazard, start = entry, whole = whole))
  )
}

# Two causes.
rate <- cbind(0.09 * exp(0.9 * x + rnorm(n, 0, 0.3)), 0.05 * exp(rnorm(n, 0, 0.5)))
rate <- round(rate, 4) + 0.001
first <- rexp(n, 0.08 * exp(0.5 * x))
second <- rexp(n, 0.06)
end <- runif(n, 1, 16)
y <- round(pmin(first, second, end), 5)
cause <- ifelse(end <= pmin(first, second), 0, ifelse(first <= second, 1, 2))
stopifnot(!anyDuplicated(y))
total <- rowSums(rate)
one <- function(k) {
  risk <- rate[, k] / total * (1 - exp(-total * at))
  lp <- log(-log(1 - risk))
  rows <- data.frame(id = seq_len(n), y = pmin(y, at), status = factor(ifelse(y <= at, cause, 0), 0:2), lp)
  weighted <- finegray(Surv(y, status) ~ ., data = rows, etype = as.character(k), id = id)
  fit <- coxph(Surv(fgstart, fgstop, fgstatus) ~ lp, data = weighted, weights = fgwt, cluster = id)
  by_crr <- crr(rows$y, as.integer(as.character(rows$status)), cbind(lp), failcode = k, gtol = 1e-12, maxiter = 50)
  curve <- summary(survfit(Surv(y, factor(cause, 0:2)) ~ 1), times = at)
  observed <- curve$pstate[1, k + 1]
  hazard <- function(t) rate[, k] * t
  list(
    slope = unname(coef(fit)), se = sqrt(vcov(fit)[1, 1]), crr = unname(by_crr$coef),
    observed = observed, std_err = curve$std.err[1, k + 1], expected = mean(risk),
    overall = overall(y, as.integer(cause == k), hazard, whole = TRUE)
  )
}

here <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
result <- list(
  at = at, rows = list(time = time, event = event, scale = scale, tick = tick, weight = weight, entry = entry),
  sets = sets,
  causes = list(time = y, cause = cause, rate1 = rate[, 1], rate2 = rate[, 2], one = one(1), two = one(2))
)
write(toJSON(result, digits = 12, auto_unbox = TRUE), file.path(here, "calibration.json"))
