"""Watching a model in use over calendar periods, with alarms at a stated rate of false ones."""

from aldsurv.monitoring.column_drift import ColumnDrift
from aldsurv.monitoring.evidence import Evidence, SlopeSums, rate_evidence, slope_evidence, slope_sums
from aldsurv.monitoring.model_monitoring import monitor_model
from aldsurv.monitoring.monitoring_result import Alarm, Monitoring
from aldsurv.monitoring.period_quality import PeriodQuality

__all__ = [
    "Alarm",
    "ColumnDrift",
    "Evidence",
    "Monitoring",
    "PeriodQuality",
    "SlopeSums",
    "monitor_model",
    "rate_evidence",
    "slope_evidence",
    "slope_sums",
]
