"""The model card: what a model is, what it was learned from, how well it predicts and where its limits are."""

from aldsurv.export.card.card_files import card_json, card_markdown, write_model_card
from aldsurv.export.card.model_card import ModelCard, model_card

__all__ = ["ModelCard", "card_json", "card_markdown", "model_card", "write_model_card"]
