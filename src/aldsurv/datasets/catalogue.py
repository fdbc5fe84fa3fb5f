"""The 21 datasets of the paper, in the order of its table."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from aldsurv.datasets.dataset_info import DatasetInfo

__all__ = ["CATALOGUE", "RELEASED"]

_ALD = (
    "Sheng and Henao (2025), Learning survival distributions with the asymmetric Laplace distribution, "
    "International Conference on Machine Learning (ICML 2025)"
)
_KATZMAN = (
    "Katzman, Shaham, Cloninger, Bates, Jiang and Kluger (2018), DeepSurv: personalized treatment recommender "
    "system using a Cox proportional hazards deep neural network, BMC Medical Research Methodology 18, 24"
)
_DEEPSURV = "https://raw.githubusercontent.com/jaredleekatzman/DeepSurv/master/experiments/data"
_DEEPSURV_SOURCE = "repository of DeepSurv (github.com/jaredleekatzman/DeepSurv), experiments/data"
_DEEPSURV_LICENCE = "MIT for the repository; no licence of their own is stated for the data"
_CBIOPORTAL_LICENCE = "Open Database License (ODbL) 1.0, as the datahub of cBioPortal states"


def _synthetic(
    name: str,
    features: int,
    rows: tuple[int, int],
    censored: tuple[float, float],
    event: str,
    censoring: str,
    definition: Literal["printed", "released"] = "printed",
) -> DatasetInfo:
    return DatasetInfo(
        name=name,
        title=f"event time {event}, censoring time {censoring}",
        kind="synthetic",
        n_train=rows[0],
        n_test=rows[1],
        feature_names=("x",) if features == 1 else tuple(f"x{column}" for column in range(features)),
        censored=censored[0],
        censored_in_paper=censored[1],
        unit="no unit",
        source=f"drawn when loaded, x uniform on (0, 2){'' if features == 1 else f' in each of {features} columns'}",
        licence="none needed",
        citation=_ALD,
        definition=definition,
    )


_ONE, _FOUR, _EIGHT = (500, 1000), (2000, 1000), (4000, 1000)
_NORM = "N(3x0 + x1² - x2² + 2 sin(x2 x3) + 6, x0 + 0.5)"
_NORM_RELEASED = "N(3x0 + x1² - x2² + sin(x2 x3) + 6, 1)"
_LOGNORM = "LogNorm(βx, 1)/10, β = (0.8, 0.6, 0.4, 0.5, -0.3, 0.2, 0, -0.7)"

# The shares of censored rows are those of the distributions, by integration over x (the tests repeat it).
_SYNTHETIC = [
    _synthetic("norm_linear", 1, _ONE, (0.230, 0.20), "N(2x + 10, x + 1)", "N(4x + 10, 0.8x + 0.4)"),
    _synthetic("norm_nonlinear", 1, _ONE, (0.267, 0.24), "N(x sin 2x + 10, 0.5x + 0.5)", "N(2x + 10, 2)"),
    _synthetic("exponential", 1, _ONE, (0.336, 0.30), "Exp(mean 2x + 4)", "Exp(mean 15 - 3x)"),
    _synthetic("weibull", 1, _ONE, (0.107, 0.22), "Weibull(x sin(2x - 2) + 10, 5)", "Weibull(20 - 3x, 5)"),
    _synthetic("lognorm", 1, _ONE, (0.221, 0.21), "LogNorm((x - 1)², x)", "U(0, 10)"),
    _synthetic("norm_uniform", 1, _ONE, (0.657, 0.62), "N(2x cos 2x + 13, x + 0.5)", "U(0, 18)"),
    _synthetic("norm_heavy", 4, _FOUR, (0.798, 0.80), _NORM, "U(0, 12)"),
    _synthetic("norm_med", 4, _FOUR, (0.503, 0.49), _NORM, "U(0, 20)"),
    _synthetic("norm_light", 4, _FOUR, (0.251, 0.25), _NORM, "U(0, 40)"),
    _synthetic("norm_same", 4, _FOUR, (0.500, 0.50), _NORM, "as the event time"),
    _synthetic("lognorm_heavy", 8, _EIGHT, (0.750, 0.75), _LOGNORM, "U(0, 0.4)"),
    _synthetic("lognorm_med", 8, _EIGHT, (0.527, 0.52), _LOGNORM, "U(0, 1)"),
    _synthetic("lognorm_light", 8, _EIGHT, (0.239, 0.23), _LOGNORM, "U(0, 3.5)"),
    _synthetic("lognorm_same", 8, _EIGHT, (0.500, 0.50), _LOGNORM, "as the event time"),
]
_RELEASED = [
    _synthetic("weibull", 1, _ONE, (0.232, 0.22), "Weibull(4x sin(2x - 2) + 10, 5)", "Weibull(20 - 3x, 5)", "released"),
    _synthetic("lognorm", 1, _ONE, (0.222, 0.21), "LogNorm((x - 1)², 1)", "U(0, 10)", "released"),
    _synthetic("norm_uniform", 1, _ONE, (0.657, 0.62), "N(2x cos 2x + 13, x² + 0.5)", "U(0, 18)", "released"),
    _synthetic("norm_heavy", 4, _FOUR, (0.774, 0.80), _NORM_RELEASED, "U(0, 12)", "released"),
    _synthetic("norm_med", 4, _FOUR, (0.476, 0.49), _NORM_RELEASED, "U(0, 20)", "released"),
    _synthetic("norm_light", 4, _FOUR, (0.238, 0.25), _NORM_RELEASED, "U(0, 40)", "released"),
    _synthetic("norm_same", 4, _FOUR, (0.500, 0.50), _NORM_RELEASED, "as the event time", "released"),
]


def _cbioportal(info: DatasetInfo, study: str) -> DatasetInfo:
    """The entry of a study whose table cBioPortal makes when asked, so that it has no address of its own."""
    page = f"https://www.cbioportal.org/study/clinicalData?id={study}"
    how = f"Open {page}, download the table (TSV) and put it into the data folder under the name {info.file}."
    return replace(info, page=page, how=how, source=f"cBioPortal, study {study}, clinical data")


_METABRIC = DatasetInfo(
    name="metabric",
    title="Molecular Taxonomy of Breast Cancer International Consortium",
    kind="clinical",
    n_train=1523,
    n_test=381,
    feature_names=("EGFR", "PGR", "ERBB2", "MKI67", "hormone", "radio", "chemo", "er_positive", "age"),
    censored=801 / 1904,
    censored_in_paper=0.42,
    unit="months",
    source=_DEEPSURV_SOURCE,
    licence=_DEEPSURV_LICENCE,
    citation="Curtis and others (2012), The genomic and transcriptomic architecture of 2,000 breast tumours reveals "
    f"novel subgroups, Nature 486, 346–352; {_KATZMAN}",
    file="metabric_IHC4_clinical_train_test.h5",
    sha256="e959131973c906c7e8b1e662c81160914768156a6da145a9bfed9b9ee8bf3e72",
    url=f"{_DEEPSURV}/metabric/metabric_IHC4_clinical_train_test.h5",
    time_step=1 / 30,
)
_WHAS = DatasetInfo(
    name="whas",
    title="Worcester Heart Attack Study",
    kind="clinical",
    n_train=1310,
    n_test=328,
    feature_names=("case", "age", "female", "bmi", "heart_failure", "recurrent"),
    censored=948 / 1638,
    censored_in_paper=0.57,
    unit="days",
    source=_DEEPSURV_SOURCE,
    licence=_DEEPSURV_LICENCE,
    citation="Hosmer, Lemeshow and May (2008), Applied survival analysis: regression modeling of time to event data, "
    f"second edition, Wiley; {_KATZMAN}",
    file="whas_train_test.h5",
    sha256="2ed86f073fdbe34be10f7e485eeaf67b61004521390c46b9a18aa9b82d5e8f9c",
    url=f"{_DEEPSURV}/whas/whas_train_test.h5",
)
_SUPPORT = DatasetInfo(
    name="support",
    title="Study to Understand Prognoses and Preferences for Outcomes and Risks of Treatments",
    kind="clinical",
    n_train=7098,
    n_test=1775,
    feature_names=(
        *("age", "female", "comorbidities", "race", "diabetes", "dementia", "cancer", "mean_blood_pressure"),
        *("heart_rate", "respiration_rate", "temperature", "sodium", "white_blood_count", "creatinine"),
    ),
    censored=2837 / 8873,
    censored_in_paper=0.32,
    unit="days",
    source=_DEEPSURV_SOURCE,
    licence=_DEEPSURV_LICENCE,
    citation="Knaus and others (1995), The SUPPORT prognostic model: objective estimates of survival for seriously "
    f"ill hospitalized adults, Annals of Internal Medicine 122, 191–203; {_KATZMAN}",
    file="support_train_test.h5",
    sha256="e398f49930e4efc4ecd675a72ac547f0d1ae25ccf13f6a1024cded12ea88a83e",
    url=f"{_DEEPSURV}/support/support_train_test.h5",
)
_GBSG = DatasetInfo(
    name="gbsg",
    title="Rotterdam tumour bank and German Breast Cancer Study Group",
    kind="clinical",
    n_train=1785,
    n_test=447,
    feature_names=("hormone", "size", "postmenopausal", "age", "nodes", "progesterone", "oestrogen"),
    censored=965 / 2232,
    censored_in_paper=0.42,
    unit="months",
    source="comes with aldsurv: 1546 rows of the Rotterdam table (package pymsm) and the 686 of GBSG2 (package "
    "lifelines), the rows of the file in the repository of DeepSurv",
    licence="MIT for the packages that distribute the two tables",
    citation="Schumacher and others (1994), Randomized 2 × 2 trial evaluating hormonal treatment and the duration "
    "of chemotherapy in node-positive breast cancer patients, Journal of Clinical Oncology 12, 2086–2093; Foekens "
    "and others (2000), The urokinase system of plasminogen activation and prognosis in 2780 breast cancer patients, "
    f"Cancer Research 60, 636–643; {_KATZMAN}",
    file="gbsg_cancer_train_test.h5",
    sha256="bd455f4395322a8b23040c15cedbef00ad51a447d02c95f1f1d686a6b196484b",
    url=f"{_DEEPSURV}/gbsg/gbsg_cancer_train_test.h5",
    packaged=True,
)
_TMBIMMUNO = DatasetInfo(
    name="tmbimmuno",
    title="Tumour mutational burden and immunotherapy",
    kind="clinical",
    n_train=1328,
    n_test=332,
    feature_names=("age", "female", "tumour_mutational_burden"),
    censored=829 / 1660,
    censored_in_paper=0.49,
    unit="months",
    source="",
    licence=_CBIOPORTAL_LICENCE,
    citation="Samstein and others (2019), Tumor mutational load predicts survival after immunotherapy across "
    "multiple cancer types, Nature Genetics 51, 202–206",
    file="tmb_immuno_mskcc.tsv",
    sha256="63193dc339fce9943d5a4cc3550252c6fd049ccd5f27ecb4cc8dde2942acd712",
    time_step=1.0,
)
_BREASTMSK = DatasetInfo(
    name="breastmsk",
    title="Breast cancer at Memorial Sloan Kettering",
    kind="clinical",
    n_train=1467,
    n_test=367,
    feature_names=("er_positive", "her2_positive", "hr_positive", "mutation_count", "tumour_mutational_burden"),
    censored=1423 / 1834,
    censored_in_paper=0.77,
    unit="months",
    source="",
    licence=_CBIOPORTAL_LICENCE,
    citation="Razavi and others (2018), The genomic landscape of endocrine-resistant advanced breast cancers, "
    "Cancer Cell 34, 427–438",
    file="breast_msk_2018_clinical_data.tsv",
    sha256="db403c43de775b7a46353117372ef27a84ac81e17061c7a8369d5a06c9fa2100",
)
_LGGGBM = DatasetInfo(
    name="lgggbm",
    title="Lower-grade glioma and glioblastoma",
    kind="clinical",
    n_train=510,
    n_test=128,
    feature_names=("age", "female", "purity", "mutation_count", "tumour_mutational_burden"),
    censored=394 / 638,
    censored_in_paper=0.60,
    unit="months",
    source="",
    licence=f"{_CBIOPORTAL_LICENCE}, which names the TCGA analysis pipeline licence of the Broad Institute for TCGA",
    citation="Ceccarelli and others (2016), Molecular profiling reveals biologically discrete subsets and pathways "
    "of progression in diffuse glioma, Cell 164, 550–563",
    file="lgggbm_tcga_pub_clinical_data.tsv",
    sha256="c047d01226f5ad97a57e778cddb515b554bd3f980c03e089c3afc19b13344a9e",
    time_step=0.1,
)
_CLINICAL = [
    _METABRIC,
    _WHAS,
    _SUPPORT,
    _GBSG,
    _cbioportal(_TMBIMMUNO, "tmb_mskcc_2018"),
    _cbioportal(_BREASTMSK, "breast_msk_2018"),
    _cbioportal(_LGGGBM, "lgggbm_tcga_pub"),
]

CATALOGUE: dict[str, DatasetInfo] = {info.name: info for info in (*_SYNTHETIC, *_CLINICAL)}
"""Every dataset by its name; of the synthetic ones the definition that the paper prints."""

RELEASED: dict[str, DatasetInfo] = {info.name: info for info in _RELEASED}
"""The synthetic datasets that the code released with the paper draws from other distributions."""
