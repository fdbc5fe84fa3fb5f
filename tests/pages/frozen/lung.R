# Writes lung.json beside this file, and prints what docs/coming_from/r_survival.md shows: Rscript lung.R
# Run with R 4.2.2 and survival 3.5.3.
library(survival)
d <- lung[complete.cases(lung[, c("time","status","age","sex","ph.ecog")]), c("time","status","age","sex","ph.ecog")]
cox <- coxph(Surv(time, status) ~ age + sex + ph.ecog, data = d)
print(summary(cox)$coefficients)
new <- data.frame(age = c(50, 70), sex = c(2, 1), ph.ecog = c(0, 2))
print(summary(survfit(cox, newdata = new), times = c(180, 365))$surv)
aft <- survreg(Surv(time, status) ~ age + sex + ph.ecog, data = d, dist = "weibull")
print(summary(aft)$table)
print(summary(survfit(Surv(time, status) ~ 1, data = d), times = c(180, 365)))
print(survdiff(Surv(time, status) ~ sex, data = d))
st <- coxph(Surv(time, status) ~ age + ph.ecog + strata(sex), data = d)
w <- function(x) paste0("[", paste(format(as.vector(x), digits = 15), collapse = ", "), "]")
sd <- survdiff(Surv(time, status) ~ sex, data = d)
km <- summary(survfit(Surv(time, status) ~ 1, data = d), times = c(180, 365))
cat("{\n", '"cox_coefficients": ', w(coef(cox)), ',\n "cox_errors": ', w(sqrt(diag(vcov(cox)))), ',\n "cox_survival": ', w(t(summary(survfit(cox, newdata = new), times = c(180, 365))$surv)),
 ',\n "strata_coefficients": ', w(coef(st)), ',\n "aft_coefficients": ', w(coef(aft)), ',\n "aft_scale": ', format(aft$scale, digits=15), ',\n "aft_log_likelihood": ', format(aft$loglik[2], digits=15),
 ',\n "km": ', w(km$surv), ',\n "log_rank": ', format(sd$chisq, digits=15), ',\n "concordance": ', format(concordance(cox)$concordance, digits=15), "\n}\n", sep="", file="lung.json")
