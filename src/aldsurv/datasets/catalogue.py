"""One record per dataset: the 21 of the paper, in the order of its table, and one with causes."""

from __future__ import annotations

from dataclasses import replace

from aldsurv.datasets.dataset_info import DatasetInfo
from aldsurv.datasets.synthetic import SYNTHETIC
from aldsurv.registry import Registry

__all__ = ["DATASETS"]

_KATZMAN = (
    "Katzman, Shaham, Cloninger, Bates, Jiang and Kluger (2018), DeepSurv: personalized treatment recommender "
    "system using a Cox proportional hazards deep neural network, BMC Medical Research Methodology 18, 24"
)
_DEEPSURV = "https://raw.githubusercontent.com/jaredleekatzman/DeepSurv/master/experiments/data"
_DEEPSURV_SOURCE = "repository of DeepSurv (github.com/jaredleekatzman/DeepSurv), experiments/data"
_DEEPSURV_LICENCE = "MIT for the repository; no licence of their own is stated for the data"
_CBIOPORTAL_LICENCE = "Open Database License (ODbL) 1.0, as the datahub of cBioPortal states"


def _cbioportal(info: DatasetInfo, study: str) -> DatasetInfo:
    """The record of a study whose table cBioPortal makes when asked, so that it has no address of its own."""
    page = f"https://www.cbioportal.org/study/clinicalData?id={study}"
    how = f"Open {page}, download the table (TSV) and put it into the data folder under the name {info.file}."
    return replace(info, page=page, how=how, source=f"cBioPortal, study {study}, clinical data")


_METABRIC = DatasetInfo(
    name="metabric",
    location="aldsurv.datasets.clinical:load_deepsurv",
    title="METABRIC",
    purpose="Molecular Taxonomy of Breast Cancer International Consortium",
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
    location="aldsurv.datasets.clinical:load_whas",
    title="WHAS",
    purpose="Worcester Heart Attack Study",
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
    location="aldsurv.datasets.clinical:load_deepsurv",
    title="SUPPORT",
    purpose="Study to Understand Prognoses and Preferences for Outcomes and Risks of Treatments",
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
    location="aldsurv.datasets.clinical:load_gbsg",
    title="GBSG",
    purpose="Rotterdam tumour bank and German Breast Cancer Study Group",
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
    location="aldsurv.datasets.clinical:load_tmbimmuno",
    title="TMBImmuno",
    purpose="Tumour mutational burden and immunotherapy",
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
    location="aldsurv.datasets.clinical:load_breastmsk",
    title="BreastMSK",
    purpose="Breast cancer at Memorial Sloan Kettering",
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
    location="aldsurv.datasets.clinical:load_lgggbm",
    title="LGGGBM",
    purpose="Lower-grade glioma and glioblastoma",
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
_ROTTERDAM = DatasetInfo(
    name="rotterdam",
    location="aldsurv.datasets.clinical:load_rotterdam",
    title="Rotterdam",
    purpose="Rotterdam tumour bank, with causes: recurrence, or death without one",
    kind="clinical",
    n_train=2385,
    n_test=597,
    feature_names=(
        *("year", "age", "postmenopausal", "size", "grade", "nodes", "progesterone", "oestrogen", "hormone"),
        "chemo",
    ),
    censored=1269 / 2982,
    unit="months",
    source="comes with aldsurv: the Rotterdam table (package pymsm), the node-positive rows of which are also in gbsg",
    licence="MIT for the package that distributes the table",
    citation="Foekens and others (2000), The urokinase system of plasminogen activation and prognosis in 2780 breast "
    "cancer patients, Cancer Research 60, 636–643",
    packaged=True,
)
DATASETS = Registry(
    "dataset",
    *SYNTHETIC,
    _METABRIC,
    _WHAS,
    _SUPPORT,
    _GBSG,
    _cbioportal(_TMBIMMUNO, "tmb_mskcc_2018"),
    _cbioportal(_BREASTMSK, "breast_msk_2018"),
    _cbioportal(_LGGGBM, "lgggbm_tcga_pub"),
    _ROTTERDAM,
)
