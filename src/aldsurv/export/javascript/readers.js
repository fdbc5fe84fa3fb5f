// Which reader each model has, and its title: one line per model.

import { registerModel } from "./models.js";
import { readElasticNetAFT, readLogNormalAFT, readWeibullAFT } from "./models/aft.js";
import { readBoostedALD } from "./models/boosted_ald.js";
import { readALDSurvival, readLogNormalSurvival } from "./models/parametric.js";

/** Fill the table of models. */
export function registerModels() {
  registerModel("ald", readALDSurvival, "ALD");
  registerModel("boosted_ald", readBoostedALD, "Boosted ALD");
  registerModel("lognormal", readLogNormalSurvival, "LogNorm");
  registerModel("weibull_aft", readWeibullAFT, "Weibull AFT");
  registerModel("lognormal_aft", readLogNormalAFT, "Log-normal AFT");
  registerModel("aftnet", readElasticNetAFT, "Elastic-net AFT");
}
