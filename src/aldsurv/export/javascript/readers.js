// Which reader each model has, and its title: one line per model.

import { ScaledHazard } from "./curves/scaled_hazard.js";
import { registerWrapper } from "./distribution.js";
import { registerModel } from "./models.js";
import { readElasticNetAFT, readLogNormalAFT, readWeibullAFT } from "./models/linear/aft.js";
import { readBoostedALD } from "./models/trees/boosted_ald.js";
import { readCauseSpecificCox, readFineGray } from "./models/linear/cause_regressions.js";
import { readCox } from "./models/linear/cox.js";
import { readCQRNN } from "./models/neural/cqrnn.js";
import { readDeepHit } from "./models/neural/deephit.js";
import { readDeepSurv } from "./models/neural/deepsurv.js";
import { readICALD } from "./models/neural/icald.js";
import { readCalibrated } from "./models/wrappers/icald_calibrated.js";
import { readALDSurvival, readLogNormalSurvival } from "./models/neural/parametric.js";
import { readRecalibrated } from "./models/wrappers/recalibrated.js";
import { readStack } from "./models/wrappers/stack.js";
import { readUpdated } from "./models/wrappers/updated.js";
import { Recalibrated } from "./wrappers/recalibrated.js";

/** Fill the table of models, and that of distributions made of others. */
export function registerModels() {
  registerWrapper("recalibrated", (base, levelMap) => new Recalibrated(base, levelMap));
  registerWrapper("scaledHazard", (base, factor) => new ScaledHazard(base, factor));
  registerModel("ald", readALDSurvival, "ALD");
  registerModel("boosted_ald", readBoostedALD, "Boosted ALD");
  registerModel("cqrnn", readCQRNN, "CQRNN");
  registerModel("lognormal", readLogNormalSurvival, "LogNorm");
  registerModel("deepsurv", readDeepSurv, "DeepSurv");
  registerModel("deephit", readDeepHit, "DeepHit");
  registerModel("cox", readCox, "Cox");
  registerModel("cause_specific_cox", readCauseSpecificCox, "Cause-specific Cox");
  registerModel("fine_gray", readFineGray, "Fine-Gray");
  registerModel("weibull_aft", readWeibullAFT, "Weibull AFT");
  registerModel("lognormal_aft", readLogNormalAFT, "Log-normal AFT");
  registerModel("coxnet", readCox, "Elastic-net Cox");
  registerModel("aftnet", readElasticNetAFT, "Elastic-net AFT");
  registerModel("stack", readStack, "Stack");
  registerModel("recalibrated", readRecalibrated, "ALD recalibrated");
  registerModel("icald", readICALD, "ICALD");
  registerModel("icald_calibrated", readCalibrated, "ICALD calibrated");
  registerModel("updated", readUpdated, "Updated");
}
