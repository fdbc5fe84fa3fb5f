"""The errors aldsurv raises: one root, and each child also the builtin a caller would expect; and its warning."""

__all__ = [
    "AldsurvError",
    "CensoringError",
    "CompetingCausesWarning",
    "DataError",
    "EventValueWarning",
    "FitWarning",
    "MissingDependencyError",
    "ModelFileError",
    "NoSkillWarning",
    "NotFittedError",
    "ParameterError",
    "TrainingError",
    "UnknownNameError",
]


class AldsurvError(Exception):
    """Root of every error that aldsurv raises on purpose."""


class DataError(AldsurvError, ValueError):
    """Times, events, bounds, entries or weights that cannot be what they claim to be."""


class CensoringError(AldsurvError, ValueError):
    """Valid data whose kind of censoring the requested computation has no definition for."""


class ModelFileError(AldsurvError, ValueError):
    """A file that is no saved model, or a damaged, foreign or newer one."""


class NotFittedError(AldsurvError, ValueError, AttributeError):
    """An estimator was asked to predict before it was fitted."""


class ParameterError(AldsurvError, ValueError):
    """A parameter or argument outside its allowed range or shape."""


class TrainingError(AldsurvError, ArithmeticError):
    """Training cannot go on: the loss is no longer a number; the message names the epoch and the likely cause."""


class UnknownNameError(AldsurvError, KeyError):
    """A name that is not registered; the message suggests the nearest ones."""

    def __str__(self) -> str:
        """Plain message: KeyError would show it in quotation marks."""
        return str(self.args[0]) if self.args else ""


class FitWarning(UserWarning):
    """A model was fitted, but not as it was asked for: columns were left out, or a penalty was needed."""


class CompetingCausesWarning(UserWarning):
    """A model that knows one kind of event was given data with several causes."""


class EventValueWarning(UserWarning):
    """Values of an event column that look like the event, and count as censored."""


class MissingDependencyError(AldsurvError, ImportError):
    """An optional package is needed; the message says how to install it."""


class NoSkillWarning(UserWarning):
    """A model was fitted, but predicts rows that it did not learn from no better than Kaplan-Meier does."""
