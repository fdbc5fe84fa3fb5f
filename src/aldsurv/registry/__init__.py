"""One record per model, adapter, family and metric: its name, where it is, its title, its purpose; imported on use."""

from aldsurv.registry.family_records import FAMILIES, FamilyRecord
from aldsurv.registry.metric_record import MetricRecord
from aldsurv.registry.metric_records import METRICS
from aldsurv.registry.model_records import MODELS, PEERS, ModelRecord, saved_model_class, saved_model_name
from aldsurv.registry.records import Record, Registry

__all__ = [
    "FAMILIES",
    "METRICS",
    "MODELS",
    "PEERS",
    "FamilyRecord",
    "MetricRecord",
    "ModelRecord",
    "Record",
    "Registry",
    "saved_model_class",
    "saved_model_name",
]
