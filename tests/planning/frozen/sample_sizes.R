# Sample sizes of pmsampsize and pmvalsampsize, frozen as sample_sizes.json:
#   Rscript sample_sizes.R > sample_sizes.json
suppressMessages({library(pmsampsize); library(pmvalsampsize); library(jsonlite)})
set.seed(1)
develop <- function(parameters, csrsquared, rate, timepoint, meanfup, shrinkage = 0.9) {
  out <- pmsampsize(type = "s", csrsquared = csrsquared, parameters = parameters, rate = rate,
                    timepoint = timepoint, meanfup = meanfup, shrinkage = shrinkage)
  list(parameters = parameters, cox_snell = csrsquared, rate = rate, horizon = timepoint, follow_up = meanfup,
       shrinkage = shrinkage, rows = unname(out$results_table[1:2, 1]), final = out$sample_size,
       events = ceiling(out$events), per_parameter = out$EPP, largest = round(out$max_r2a, 6),
       nagelkerke = round(out$nag_r2, 6), risk = c(out$int_lci, out$int_cuminc, out$int_uci))
}
drawn <- lapply(1:60, function(i) {
  rate <- round(runif(1, 0.005, 0.2), 4)
  meanfup <- round(runif(1, 0.3, min(6, 0.95 / rate)), 2)
  events <- rate * meanfup
  largest <- 1 - exp(2 * (events * log(events) - events))
  develop(sample(1:80, 1), round(runif(1, 0.02, 0.5) * largest, 4), rate, round(runif(1, 0.5, 8), 1), meanfup,
          sample(c(0.85, 0.9, 0.95), 1))
})
# The example of the manual, after Riley et al. (2020).
manual <- develop(30, 0.051, 0.065, 2, 2.07)
validate <- function(prevalence, cstatistic, oeciwidth, cstatciwidth) {
  out <- suppressMessages(pmvalsampsize(type = "b", prevalence = prevalence, cstatistic = cstatistic,
                                        lpnormal = c(-2, 1), oeciwidth = oeciwidth, cstatciwidth = cstatciwidth,
                                        simobs = 1000))
  rows <- unname(out$results_table[, 1])
  list(risk = prevalence, c_index = cstatistic, ratio_width = oeciwidth, c_width = cstatciwidth,
       ratio = rows[1], concordance = rows[3])
}
validation <- lapply(1:25, function(i) validate(round(runif(1, 0.01, 0.8), 3), round(runif(1, 0.55, 0.9), 2),
                                                sample(c(0.2, 0.25, 0.4, 1), 1), sample(c(0.08, 0.1, 0.15), 1)))
cat(toJSON(list(versions = list(pmsampsize = as.character(packageVersion("pmsampsize")),
                                pmvalsampsize = as.character(packageVersion("pmvalsampsize"))),
                manual = manual, drawn = drawn, validation = validation), auto_unbox = TRUE, digits = NA))
