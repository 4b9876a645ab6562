"""What a study was asked to do: the first event of its ledger."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import final

from alder.ledger.coding import Json, Value, grammar_from_json, grammar_to_json, plain_to_json
from alder.ledger.content import content_digest
from alder.records.budget import Budget
from alder.records.grammar import Grammar
from alder.records.roles import Roles


@final
@dataclass(frozen=True, slots=True)
class Configuration:
    """Grammar, roles, budget, seed, and the names of proposer and selector.

    `criteria` are the settings of admission, `limits` those of predicted safety, and `versions`
    those of the programs, as JSON values. Limits that are a Python function are here by name.
    """

    grammar: Grammar
    roles: Roles
    budget: Budget
    seed: int
    proposer: str
    selector: str
    criteria: Mapping[str, object] = field(default_factory=dict[str, object])
    versions: Mapping[str, str] = field(default_factory=dict[str, str])
    limits: Mapping[str, object] = field(default_factory=dict[str, object])

    @property
    def digest(self) -> str:
        """SHA-256 of what a study that resumes must share: all but the budget and the versions."""
        value = configuration_to_json(self)
        return content_digest({k: v for k, v in value.items() if k not in ("budget", "versions")})


def configuration_to_json(configuration: Configuration) -> Json:
    """Write a configuration."""
    return {
        "grammar": grammar_to_json(configuration.grammar),
        "roles": _roles_to_json(configuration.roles),
        "budget": plain_to_json(configuration.budget),
        "seed": configuration.seed,
        "proposer": configuration.proposer,
        "selector": configuration.selector,
        "criteria": dict(configuration.criteria),
        "versions": dict(configuration.versions),
        # Left out where there are none, as in ledgers from before there were limits.
        **({"limits": dict(configuration.limits)} if configuration.limits else {}),
    }


def _roles_to_json(roles: Roles) -> Json:
    """Write roles; sums only where there are such, as in ledgers from before there were any."""
    return {
        name: column
        for name, column in plain_to_json(roles).items()
        if column is not None or name != "sums"
    }


def configuration_from_json(value: Value) -> Configuration:
    """Read a configuration."""
    return Configuration(
        grammar=grammar_from_json(value["grammar"]),
        roles=Roles(**value["roles"]),
        budget=Budget(**value["budget"]),
        seed=value["seed"],
        proposer=value["proposer"],
        selector=value["selector"],
        criteria=value["criteria"],
        versions=value["versions"],
        limits=value.get("limits", {}),
    )
