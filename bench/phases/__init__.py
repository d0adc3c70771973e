"""The phases of the scenario `live`: each measures one thing on cameras that film already."""

NAME = "live"
"""Under which all their figures are reported."""
