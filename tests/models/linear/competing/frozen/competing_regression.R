# Cause-specific Cox regression of R's survival and Fine-Gray regression of cmprsk, frozen as competing_regression.json:
#   Rscript competing_regression.R > competing_regression.json
suppressMessages({library(survival); library(cmprsk); library(jsonlite)})
set.seed(2)
n <- 180
x <- round(rnorm(n), 3)
z <- round(rnorm(n, 50, 10), 1)
group <- sample(1:40, n, TRUE)
site <- sample(0:1, n, TRUE)
frailty <- rnorm(40, 0, 0.4)[group]
first <- 4 * rexp(n) * exp(-0.6 * x + frailty)
second <- 6 * rexp(n) * exp(0.02 * (z - 50) - 0.3 * x)
lost <- rexp(n, 1 / 8)
time <- pmin(first, second, lost)
cause <- ifelse(lost == time, 0, ifelse(first == time, 1, 2))
entry <- ifelse(runif(n) < 0.5, 0, floor(runif(n) * time * 2) / 2)
new <- data.frame(x = c(-1, 0, 1.5), z = c(40, 55, 70), site = c(0, 1, 1))
out <- list(versions = list(survival = as.character(packageVersion("survival")),
                            cmprsk = as.character(packageVersion("cmprsk"))), new = new)
tight <- coxph.control(eps = 1e-13, toler.chol = 1e-14, iter.max = 50)
for (kind in c("smooth", "tied")) {
  t <- if (kind == "tied") ceiling(2 * time) / 2 else round(time, 6)
  d <- data.frame(x, z, group, site, time = t, cause, entry = pmin(entry, ifelse(entry < t, entry, 0)), id = seq_len(n))
  d$state <- factor(d$cause, 0:2, c("censored", "one", "two"))
  at <- if (kind == "tied") c(0.5, 1, 2.5, 4, 8) else c(0.2, 1, 2.5, 4, 8)
  cox <- list()
  # R's survfit for several causes, which has Breslow's ties only.
  formulas <- list(plain = Surv(time, state) ~ x + z, strata = Surv(time, state) ~ x + z + strata(site),
                   entry = Surv(entry, time, state) ~ x + z)
  for (name in names(formulas)) {
    fit <- coxph(formulas[[name]], d, id = id, ties = "breslow", control = tight)
    states <- lapply(seq_len(nrow(new)), function(i) {
      curve <- survfit(fit, newdata = new[i, ], se.fit = FALSE)
      # With strata there is a curve for each, one after the other.
      last <- cumsum(if (is.null(curve$strata)) length(curve$time) else curve$strata)
      own <- if (length(last) == 1) 1 else 1 + new$site[i]
      rows <- (c(0, last)[own] + 1):last[own]
      table <- matrix(curve$pstate, ncol = 3)[rows, ]
      rbind(c(1, 0, 0), table)[1 + findInterval(at, curve$time[rows]), ]
    })
    cox$breslow[[name]] <- list(coefficient = unname(coef(fit)), states = states)
  }
  # With Efron's ties: the product integral of the hazards that R's survfit gives for each cause.
  own <- lapply(1:2, function(k) {
    d$own <- as.integer(d$cause == k)
    coxph(Surv(time, own) ~ x + z, d, ties = "efron", model = TRUE, control = tight)
  })
  states <- lapply(seq_len(nrow(new)), function(i) {
    curves <- lapply(own, function(fit) survfit(fit, newdata = new[i, ], se.fit = FALSE))
    jumps <- sapply(curves, function(curve) diff(c(0, curve$cumhaz)))
    state <- c(1, 0, 0)
    rows <- t(apply(jumps, 1, function(jump) {
      total <- sum(jump)
      if (total > 0) state <<- state + state[1] * (1 - exp(-total)) * c(-1, jump / total)
      state
    }))
    rbind(c(1, 0, 0), rows)[1 + findInterval(at, curves[[1]]$time), ]
  })
  cox$efron$plain <- list(coefficient = unname(unlist(lapply(own, coef))), states = states)
  for (ties in c("efron", "breslow")) {
    both <- lapply(1:2, function(k) {
      d$own <- as.integer(d$cause == k)
      fit <- coxph(Surv(time, own) ~ x + z + cluster(group), d, ties = ties, control = tight)
      list(coefficient = unname(coef(fit)), robust = fit$var, model = fit$naive.var)
    })
    cox[[ties]]$groups <- both
  }
  gray <- lapply(1:2, function(k) {
    fit <- crr(d$time, d$cause, cbind(d$x, d$z), failcode = k, cencode = 0, gtol = 1e-13, maxiter = 50)
    curve <- predict(fit, as.matrix(new[, c("x", "z")]))
    list(coefficient = unname(fit$coef), variance = fit$var, inverse = fit$inf, likelihood = fit$loglik,
         times = curve[, 1], incidence = curve[, -1])
  })
  out[[kind]] <- list(data = d[c("x", "z", "group", "site", "time", "cause", "entry")], at = at, cox = cox, gray = gray)
}
cat(toJSON(out, digits = NA, dataframe = "columns", auto_unbox = TRUE), "\n")
