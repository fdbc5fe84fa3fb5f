"""The items of TRIPOD+AI (Collins and others, BMJ 2024;385:e078378), numbered as published, in words of our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, final

__all__ = ["ITEMS", "REFERENCE", "Item", "StudyKind"]

# Development, evaluation, or both.
StudyKind: TypeAlias = Literal["D", "E", "D;E"]

REFERENCE = (
    "Collins GS, Moons KGM, Dhiman P, and others. TRIPOD+AI statement: updated guidance for reporting clinical "
    "prediction models that use regression or machine learning methods. BMJ 2024;385:e078378."
)


@final
@dataclass(frozen=True)
class Item:
    """An item of the checklist.

    Attributes
    ----------
    number
        As published.
    part, topic
        Part of the paper, and topic within it.
    kind
        Whether it is about developing a model (D), evaluating one (E), or both.
    asks
        What is to be reported, in short.
    """

    number: str
    part: str
    topic: str
    kind: StudyKind
    asks: str


_METHODS, _OPEN, _RESULTS, _DISCUSSION = "Methods", "Open science", "Results", "Discussion"
_PUBLIC = "Patients and public"

ITEMS = (
    Item("1", "Title", "Title", "D;E", "That a prediction model is developed or evaluated, for whom, and of what."),
    Item("2", "Abstract", "Abstract", "D;E", "A summary that follows the list of TRIPOD+AI for abstracts."),
    Item("3a", "Introduction", "Background", "D;E", "Setting in care, why this model, and which models there are."),
    Item("3b", "Introduction", "Background", "D;E", "For whom and for which step of care it is meant, and its users."),
    Item("3c", "Introduction", "Background", "D;E", "Inequalities in health between groups that are known."),
    Item("4", "Introduction", "Objectives", "D;E", "Aims, and whether a model is developed, evaluated, or both."),
    Item("5a", _METHODS, "Data", "D;E", "Where both sets of data come from, why these, and whom they represent."),
    Item("5b", _METHODS, "Data", "D;E", "Dates: first and last entry, and end of follow-up."),
    Item("6a", _METHODS, "Participants", "D;E", "Setting of the study; how many centres, and where."),
    Item("6b", _METHODS, "Participants", "D;E", "Who could take part."),
    Item("6c", _METHODS, "Participants", "D;E", "Treatments, and how the analysis deals with them."),
    Item("7", _METHODS, "Data preparation", "D;E", "How data were checked and prepared, and if alike in all groups."),
    Item("8a", _METHODS, "Outcome", "D;E", "Outcome and horizon; how, when and why so assessed, alike in all groups."),
    Item("8b", _METHODS, "Outcome", "D;E", "Who judged the outcome, where judgement is needed."),
    Item("8c", _METHODS, "Outcome", "D;E", "What was done to keep those who assess the outcome blind."),
    Item("9a", _METHODS, "Predictors", "D", "How the first set of predictors was chosen, before any modelling."),
    Item("9b", _METHODS, "Predictors", "D;E", "Each predictor: what it is, how and when measured, and if blind."),
    Item("9c", _METHODS, "Predictors", "D;E", "Who judged predictors, where judgement is needed."),
    Item("10", _METHODS, "Sample size", "D;E", "How the sizes came about, and why they are enough."),
    Item("11", _METHODS, "Missing data", "D;E", "What was done with gaps, and why data were left out."),
    Item("12a", _METHODS, "Analysis", "D", "Which data served for what, and how they were divided."),
    Item("12b", _METHODS, "Analysis", "D", "How predictors enter: shape, scale, transformation."),
    Item("12c", _METHODS, "Analysis", "D", "Kind of model and why; each step, tuning, internal validation."),
    Item("12d", _METHODS, "Analysis", "D;E", "How differences between clusters, such as centres, were dealt with."),
    Item("12e", _METHODS, "Analysis", "D;E", "Measures and plots of performance, and why these."),
    Item("12f", _METHODS, "Analysis", "E", "Whether and how the model was updated after its evaluation."),
    Item("12g", _METHODS, "Analysis", "E", "How the predictions that are evaluated were computed."),
    Item("13", _METHODS, "Class imbalance", "D;E", "Methods against imbalance, if any, and recalibration after them."),
    Item("14", _METHODS, "Fairness", "D;E", "What was done for fairness, and why."),
    Item("15", _METHODS, "Model output", "D", "What the model gives; classes and thresholds, if any, and why."),
    Item("16", _METHODS, "Training and evaluation", "D;E", "How the two sets of data differ."),
    Item("17", _METHODS, "Ethical approval", "D;E", "Who approved the study, and consent or its waiver."),
    Item("18a", _OPEN, "Funding", "D;E", "Who paid, and their part in the study."),
    Item("18b", _OPEN, "Conflicts of interest", "D;E", "Interests of all authors."),
    Item("18c", _OPEN, "Protocol", "D;E", "Where the protocol is, or that there is none."),
    Item("18d", _OPEN, "Registration", "D;E", "Register and number, or that it was not registered."),
    Item("18e", _OPEN, "Data sharing", "D;E", "Whether and how the data can be had."),
    Item("18f", _OPEN, "Code sharing", "D;E", "Whether and how the code of the analysis can be had."),
    Item("19", _PUBLIC, "Involvement", "D;E", "Their part in the study, or that they had none."),
    Item("20a", _RESULTS, "Participants", "D;E", "Numbers through the study, with and without the outcome; follow-up."),
    Item("20b", _RESULTS, "Participants", "D;E", "What they are like, in all and by source; gaps; groups that differ."),
    Item("20c", _RESULTS, "Participants", "E", "Predictors and outcome beside those of the development data."),
    Item("21", _RESULTS, "Model development", "D;E", "Participants and events in each analysis."),
    Item("22", _RESULTS, "Model specification", "D", "The whole model, so that others can use it; limits to its use."),
    Item("23a", _RESULTS, "Performance", "D;E", "Estimates with confidence intervals, in key subgroups, too."),
    Item("23b", _RESULTS, "Performance", "D;E", "How far performance differs between clusters, if examined."),
    Item("24", _RESULTS, "Model updating", "E", "The updated model, if there is one, and its performance."),
    Item(
        "25", _DISCUSSION, "Interpretation", "D;E", "What the results mean, for fairness too, beside earlier studies."
    ),
    Item("26", _DISCUSSION, "Limitations", "D;E", "Limits of the study, and what they do to its results."),
    Item("27a", _DISCUSSION, "Use in care", "D", "What to do about input data that are poor or missing."),
    Item("27b", _DISCUSSION, "Use in care", "D", "What users have to do and to know."),
    Item("27c", _DISCUSSION, "Use in care", "D;E", "What to study next, above all where else the model applies."),
)
