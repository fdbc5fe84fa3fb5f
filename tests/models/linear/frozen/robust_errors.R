# Robust standard errors of R's survival, frozen as robust_errors.json:
#   Rscript robust_errors.R > robust_errors.json
suppressMessages({library(survival); library(jsonlite)})
set.seed(1)
n <- 160
d <- data.frame(
  x = round(rnorm(n), 3), z = round(rnorm(n, 50, 10), 1), group = sample(1:35, n, TRUE), site = sample(0:2, n, TRUE)
)
event <- ceiling(4 * rexp(n) * exp(0.6 * d$x - 0.02 * (d$z - 50) + rnorm(35, 0, 0.5)[d$group]))
lost <- ceiling(rexp(n, 1 / 9))
d$time <- pmin(event, lost)
d$event <- as.integer(event <= lost)
d$entry <- ifelse(runif(n) < 0.5, 0, floor(runif(n) * d$time))
d$weight <- sample(1:5, n, TRUE) / 2
d$own <- seq_len(n)
cox <- function(formula, ties, weights = rep(1, n)) {
  d$w <- weights
  environment(formula) <- environment()
  fit <- coxph(formula, d, ties = ties, weights = w, robust = TRUE,
               control = coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 50))
  list(coefficient = unname(coef(fit)), robust = fit$var, model = fit$naive.var)
}
aft <- function(dist) {
  fit <- survreg(Surv(time, event) ~ x + z, d, dist = dist, cluster = group, robust = TRUE,
                 control = survreg.control(rel.tolerance = 1e-13, maxiter = 100))
  list(coefficient = unname(c(coef(fit), log(fit$scale))), robust = unname(fit$var), model = unname(fit$naive.var))
}
out <- list(version = as.character(packageVersion("survival")), data = d)
for (ties in c("efron", "breslow")) {
  out$cox[[ties]] <- list(
    plain = cox(Surv(time, event) ~ x + z + cluster(group), ties),
    alone = cox(Surv(time, event) ~ x + z + cluster(own), ties),
    weight = cox(Surv(time, event) ~ x + z + cluster(group), ties, d$weight),
    strata = cox(Surv(time, event) ~ x + z + strata(site) + cluster(group), ties),
    entry = cox(Surv(entry, time, event) ~ x + z + cluster(group), ties),
    all = cox(Surv(entry, time, event) ~ x + z + strata(site) + cluster(group), ties, d$weight)
  )
}
out$aft <- list(weibull = aft("weibull"), lognormal = aft("lognormal"))
cat(toJSON(out, digits = NA, dataframe = "columns", auto_unbox = TRUE), "\n")
