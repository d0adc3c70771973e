"""Phases of the scenario `live`: each measures one thing on cameras that are streaming."""

NAME = "live"
"""Scenario under which their figures are reported."""
