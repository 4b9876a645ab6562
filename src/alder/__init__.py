"""Laws from data: proposed, fitted, put to the test by experiments, and verified.

What `__all__` lists is promised and documented; all else may change. A public name is loaded when
it is first used, so that `import alder` costs nothing.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "Additive",
    "AlderError",
    "AlphaSpending",
    "BadGrammar",
    "BadLawFile",
    "BadLedger",
    "BadParameter",
    "BadStudy",
    "BadTable",
    "BadUnit",
    "BadWorld",
    "Bounds",
    "Budget",
    "Coefficient",
    "Criteria",
    "CrucialExperiment",
    "Disturbance",
    "Drive",
    "Dynamics",
    "Effort",
    "EnoughGroups",
    "Episode",
    "Evidence",
    "Experiment",
    "Fit",
    "Fits",
    "Floors",
    "Form",
    "FrontLaw",
    "FunctionWorld",
    "Grammar",
    "Guard",
    "GymnasiumWorld",
    "Hybrid",
    "Law",
    "LawRegressor",
    "Limits",
    "LogWorld",
    "MPCPolicy",
    "MalformedLaw",
    "ManualWorld",
    "Message",
    "MissingExtra",
    "Model",
    "ModelFailed",
    "ModelProposer",
    "MuJoCoWorld",
    "Nesting",
    "NextStep",
    "NoTermLeft",
    "Noise",
    "ODEWorld",
    "Outcome",
    "PairwiseWorld",
    "Plan",
    "PoolWorld",
    "Prediction",
    "Problem",
    "Proposal",
    "Protected",
    "Refusal",
    "Reply",
    "RouteError",
    "Sampling",
    "Scope",
    "Spent",
    "StatesOutcome",
    "Study",
    "System",
    "SystemOutcome",
    "Term",
    "Thresholdout",
    "Thresholds",
    "TypicalError",
    "UnknownVariable",
    "Variable",
    "Verdict",
    "VerifierFailed",
    "check",
    "crucial_experiment",
    "difference",
    "discover",
    "discover_states",
    "discover_system",
    "draw_plan",
    "fit",
    "fit_many",
    "parse",
    "phase_portrait",
    "plan",
    "select",
    "verify",
]

if TYPE_CHECKING:
    from alder.checking import check
    from alder.control.planning import plan
    from alder.control.policy import MPCPolicy
    from alder.errors import (
        AlderError,
        BadGrammar,
        BadLawFile,
        BadLedger,
        BadParameter,
        BadStudy,
        BadTable,
        BadUnit,
        BadWorld,
        MalformedLaw,
        MissingExtra,
        ModelFailed,
        UnknownVariable,
        VerifierFailed,
    )
    from alder.expr.operators import Floors
    from alder.expr.text import parse
    from alder.fitting import Fits, fit, fit_many
    from alder.ports import Form, Message, Model, Reply
    from alder.proposers.additive import Additive, Term
    from alder.proposers.hybrid import Hybrid
    from alder.proposers.llm.proposer import ModelProposer
    from alder.records.budget import Budget, Spent
    from alder.records.coefficient import Coefficient
    from alder.records.dynamics import Dynamics
    from alder.records.effort import Effort
    from alder.records.evidence import Evidence
    from alder.records.experiment import Experiment
    from alder.records.fit import Fit
    from alder.records.front import FrontLaw
    from alder.records.grammar import Grammar, Nesting
    from alder.records.law import Law
    from alder.records.limits import Limits
    from alder.records.nextstep import NextStep
    from alder.records.noise import Noise
    from alder.records.outcome import Outcome, Refusal
    from alder.records.plan import Plan, Prediction
    from alder.records.problem import Problem
    from alder.records.proposal import Bounds, Proposal
    from alder.records.protected import Protected
    from alder.records.scope import Scope
    from alder.records.statesoutcome import RouteError, StatesOutcome
    from alder.records.system import SystemOutcome
    from alder.records.variable import Variable
    from alder.records.verdict import Verdict
    from alder.regressor import LawRegressor
    from alder.report.planned import draw_plan
    from alder.report.portrait import phase_portrait
    from alder.selection.crucial import CrucialExperiment
    from alder.study import Study, discover
    from alder.study.crucial import crucial_experiment
    from alder.study.stages import select, verify
    from alder.study.states import discover_states
    from alder.study.system import discover_system
    from alder.verification.criteria import Criteria, Thresholds
    from alder.verification.demands import EnoughGroups, NoTermLeft, TypicalError
    from alder.verification.spending import AlphaSpending, Thresholdout
    from alder.worlds.function import FunctionWorld
    from alder.worlds.guard import Guard
    from alder.worlds.gymnasium import Episode, GymnasiumWorld, difference
    from alder.worlds.log import LogWorld
    from alder.worlds.manual import ManualWorld
    from alder.worlds.mujoco import Drive, MuJoCoWorld
    from alder.worlds.ode import ODEWorld
    from alder.worlds.pairwise import PairwiseWorld
    from alder.worlds.pool import PoolWorld
    from alder.worlds.system import Disturbance, Sampling, System
else:
    _HOME = {
        "Additive": "alder.proposers.additive",
        "Term": "alder.proposers.additive",
        "EnoughGroups": "alder.verification.demands",
        "NoTermLeft": "alder.verification.demands",
        "TypicalError": "alder.verification.demands",
        "Bounds": "alder.records.proposal",
        "Budget": "alder.records.budget",
        "Coefficient": "alder.records.coefficient",
        "AlphaSpending": "alder.verification.spending",
        "Criteria": "alder.verification.criteria",
        "CrucialExperiment": "alder.selection.crucial",
        "Disturbance": "alder.worlds.system",
        "Drive": "alder.worlds.mujoco",
        "Dynamics": "alder.records.dynamics",
        "Effort": "alder.records.effort",
        "Episode": "alder.worlds.gymnasium",
        "Evidence": "alder.records.evidence",
        "Experiment": "alder.records.experiment",
        "Fit": "alder.records.fit",
        "Fits": "alder.fitting",
        "Floors": "alder.expr.operators",
        "FrontLaw": "alder.records.front",
        "FunctionWorld": "alder.worlds.function",
        "Grammar": "alder.records.grammar",
        "Guard": "alder.worlds.guard",
        "GymnasiumWorld": "alder.worlds.gymnasium",
        "difference": "alder.worlds.gymnasium",
        "Law": "alder.records.law",
        "LawRegressor": "alder.regressor",
        "Limits": "alder.records.limits",
        "LogWorld": "alder.worlds.log",
        "MPCPolicy": "alder.control.policy",
        "ManualWorld": "alder.worlds.manual",
        "MuJoCoWorld": "alder.worlds.mujoco",
        "Nesting": "alder.records.grammar",
        "NextStep": "alder.records.nextstep",
        "Form": "alder.ports",
        "Hybrid": "alder.proposers.hybrid",
        "Message": "alder.ports",
        "Model": "alder.ports",
        "ModelProposer": "alder.proposers.llm.proposer",
        "Reply": "alder.ports",
        "Noise": "alder.records.noise",
        "ODEWorld": "alder.worlds.ode",
        "Outcome": "alder.records.outcome",
        "PairwiseWorld": "alder.worlds.pairwise",
        "Plan": "alder.records.plan",
        "PoolWorld": "alder.worlds.pool",
        "Prediction": "alder.records.plan",
        "Problem": "alder.records.problem",
        "Proposal": "alder.records.proposal",
        "Protected": "alder.records.protected",
        "Refusal": "alder.records.outcome",
        "Sampling": "alder.worlds.system",
        "RouteError": "alder.records.statesoutcome",
        "Scope": "alder.records.scope",
        "Spent": "alder.records.budget",
        "StatesOutcome": "alder.records.statesoutcome",
        "Study": "alder.study",
        "System": "alder.worlds.system",
        "SystemOutcome": "alder.records.system",
        "Thresholdout": "alder.verification.spending",
        "Thresholds": "alder.verification.criteria",
        "Variable": "alder.records.variable",
        "Verdict": "alder.records.verdict",
        "check": "alder.checking",
        "crucial_experiment": "alder.study.crucial",
        "discover": "alder.study",
        "discover_states": "alder.study.states",
        "discover_system": "alder.study.system",
        "draw_plan": "alder.report.planned",
        "fit": "alder.fitting",
        "fit_many": "alder.fitting",
        "parse": "alder.expr.text",
        "phase_portrait": "alder.report.portrait",
        "plan": "alder.control.planning",
        "select": "alder.study.stages",
        "verify": "alder.study.stages",
    }

    def __getattr__(name: str) -> object:
        """Load a public name at its first use (PEP 562); all that are not listed are errors."""
        from importlib import import_module

        if name not in __all__:
            raise AttributeError(f"module 'alder' has no attribute {name!r}")
        value = getattr(import_module(_HOME.get(name, "alder.errors")), name)
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """Offer the public names to completion before they are loaded."""
        return sorted({*globals(), *__all__})
