"""Cells of a report that lack the codes of country and network (docs/positions.md#pipeline)."""

from collections.abc import Mapping
from typing import Any

from motorpool.actors.rules.rule_settings import RuleSettings


def complete_network(network: Mapping[str, Any], settings: RuleSettings) -> dict[str, Any]:
    """Return a copy of a network, whose cells without codes have those of the settings."""
    completed = dict(network)
    country = settings.network_mobile_country_code
    towers = completed.get("cellTowers")
    if country and towers:
        codes = {
            "mobileCountryCode": country,
            "mobileNetworkCode": settings.network_mobile_network_code,
        }
        completed["cellTowers"] = [codes | tower for tower in towers]
    return completed
