"""Rules of eligibility: a table of functions of what a submission says and scores, with advice."""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from math import sqrt
from typing import Any, NamedTuple

from sraven.core.escape import escape
from sraven.leaderboard.copies import equal_seeds, suspect
from sraven.leaderboard.evidence import Evidence
from sraven.leaderboard.standing import LEARNT_CEILING, REFERENCE, UNCHOSEN
from sraven.leaderboard.submissions.submission import CLAIM_TOLERANCE, RANKED_SEEDS
from sraven.scoring.scores import interval_over_combinations

CEILING_ERRORS = 5
"""Standard errors by which a score must pass its ceiling to be beyond what chance allows.

An observer that is right about instance i with probability p_i, as its posterior says, is right about
a share of n instances whose mean is the ceiling c and whose variance is at most c (1 - c) / n. By
Chernoff's bound, five of the standard errors below are passed by one in 10^8 at most on the boards there
are, and so by one in 10^6 among 20 seeds on two splits.
"""

SELECTION = "test"
"""The split by whose score the points of a grid are chosen."""

AGREEMENT = "agreement"
"""The rule that a maintainer may lift: see `sraven.leaderboard.maintainers`."""


def _few_seeds(evidence: Evidence) -> str:
    """A seed is a trained model, and several show how far models that are trained alike differ.

    On a board of texts the model is given. What varies there is which questions it gets and, above
    temperature 0, what it happens to say: both vary from instance to instance, so the interval over instances
    has them. So one run is enough; of several, all count.
    """
    least = 1 if evidence.board.is_text else RANKED_SEEDS
    few = [split for split in evidence.board.splits if len(evidence.seeds(split)) < least]
    seeds = "seed" if least == 1 else "seeds"
    return f"fewer than {least} {seeds} on {', '.join(few)}" if few else ""


def _other_seeds(evidence: Evidence) -> str:
    """A seed is a trained model: one that is left out on a split may be the one that did badly there."""
    if _few_seeds(evidence):
        return ""
    named = {split: evidence.seeds(split) for split in evidence.board.splits}
    everywhere = set.intersection(*named.values())
    parts = [
        f"{split} has seed {', '.join(map(str, sorted(seeds - everywhere)))} alone"
        for split, seeds in named.items()
        if seeds - everywhere
    ]
    return f"its splits have other seeds: {'; '.join(parts)}" if parts else ""


def _extra_data(evidence: Evidence) -> str:
    return "used extra data" if evidence.content["training"]["extra_data"] else ""


def _selection(evidence: Evidence) -> str:
    training = evidence.content["training"]
    split, trials = training["selection_split"], training.get("tuning_trials") or 1
    if split in evidence.board.held_out:
        return "chosen by its scores on held-out combinations"
    if split is None and (trials > 1 or evidence.content.get("points")):
        return "chosen among several settings by a split that it doesn't name"
    return ""


def _budget(evidence: Evidence) -> str:
    """A language model may have seen nothing of the benchmark; any other network learnt from something."""
    instances, most = evidence.content["training"]["instances"], max(evidence.board.train_budgets)
    if instances == 0 and not evidence.board.is_text:
        return "says that it was trained on nothing"
    return f"trained on more than {most:,} instances" if instances > most else ""


def _points(evidence: Evidence) -> str:
    """The score that ranks must not choose among points of a grid: the best of many is best by luck, too."""
    board = evidence.board
    own = evidence.score(SELECTION, board.metric) if board.primary_split != SELECTION else None
    if own is None:
        return ""
    for point in evidence.content.get("points", ()):
        if board.sign * (point["scores"][SELECTION] - own["mean"]) > CLAIM_TOLERANCE:
            return f"{UNCHOSEN}{escape(point['name'])}"
    return ""


def _agreement(evidence: Evidence) -> str:
    """Seeds of one network, of which wrong answers were changed, are wrong about the same instances."""
    most = evidence.board.task.scoring.comparison.most_agreement
    for split, (first, second, found) in evidence.agreement.items():
        if found > most:
            return suspect(f"seeds {first} and {second} err alike on {split}", "agreement", found, most)
    return ""


def _beyond(value: float, ceiling: float, error: float, n: float) -> float | None:
    """Return what a score that is a share of n may reach with this ceiling, if it is beyond; else None."""
    most = ceiling + CEILING_ERRORS * sqrt(error**2 + max(0.0, ceiling * (1 - ceiling)) / n)
    return most if value > most + CLAIM_TOLERANCE else None


def _ceilings(evidence: Evidence, split: str) -> dict[str, tuple[float, float, float]]:
    """Return ceilings of metrics on a split with their standard errors, and how many instances they are on.

    On an instance with one answer the ideal observer is always right, so that what it gets wrong are
    ambiguous instances: labels that were leaked and spoilt to stay below the ceiling show there.
    """
    board, n = evidence.board, float(evidence.board.splits[split])
    known, metrics = board.ceiling(split, board.metric), board.task.scoring.metrics
    if known is None or not metrics[board.metric].is_share:
        return {}
    value, error = known.value, known.standard_error
    found, totals = {board.metric: (value, error, n)}, evidence.totals.get(split, {})
    for name, metric in metrics.items():
        count = totals.get(metric.summands[1], 0) if metric.is_share and name != board.metric else 0
        if count:
            found[name] = 1 - (1 - value) * n / count, error * n / count, count
    return found


def _above_ceiling(evidence: Evidence) -> str:
    for split in evidence.board.splits:
        for metric, (value, error, n) in _ceilings(evidence, split).items():
            score = evidence.score(split, metric)
            for found in score["by_seed"] if score else ():
                if found is not None and (most := _beyond(found, value, error, n)) is not None:
                    return (
                        f"its {metric} on {split} is {found:.4f}, where an ideal observer reaches "
                        f"{value:.4f} and no more than {most:.4f} by chance: a sign of leaked labels"
                    )
    return ""


def _reaches(evidence: Evidence, value: float | None) -> bool:
    """Return whether the interval of what ranks reaches a value; not where nobody knows either.

    The interval is over combinations, or instances where there are none, and not over seeds. That would call
    a method guesswork of which one seed learns and two don't.
    """
    board = evidence.board
    score = evidence.score(board.primary_split, board.metric)
    if score is None or value is None:
        return False
    over_combinations = interval_over_combinations(
        evidence.scores["splits"][board.primary_split], board.metric
    )
    interval = over_combinations or score["interval"]
    if not interval:
        return False
    low, high = interval
    return low <= value if board.higher_is_better else high >= value


def _chance(evidence: Evidence) -> str:
    chance = evidence.board.chance
    return f"no better than chance, which is {chance:.4g}" if _reaches(evidence, chance) else ""


def _baseline(evidence: Evidence) -> str:
    """The best baseline, which composes nothing, may score as much; at chance, that is said instead."""
    best = evidence.board.best_baseline
    if not best or _chance(evidence) or not _reaches(evidence, best.value):
        return ""
    return f"not clearly better than what composes nothing ({best.title}, {best.value:.4f})"


def _reference(evidence: Evidence) -> str:
    return "a reference, not a model" if evidence.family == REFERENCE else ""


def _told(evidence: Evidence) -> str:
    """A network that is told what others find out shows what can be learnt, not how well those compose."""
    told = "a learnt ceiling: it is told what the ranked networks have to find out"
    return told if evidence.family == LEARNT_CEILING else ""


def _people(evidence: Evidence) -> str:
    """People stand beside the ranks: they weren't trained, and what they knew isn't known."""
    found = evidence.content.get("replies", {}).get("people")
    if not found:
        return ""
    took = "" if found.get("minutes") is None else f", {found['minutes']:.0f} minutes each"
    return f"people, not a model: {found['number']} ({found['found']}){took}"


class EligibilityRule(NamedTuple):
    """A rule: why an entry breaks it (an empty text for one that doesn't), and what to do."""

    check: Callable[[Evidence], str]
    advice: str


ELIGIBILITY_RULES: Mapping[str, EligibilityRule] = {
    REFERENCE: EligibilityRule(_reference, "leave method.family out if it is a method of yours"),
    LEARNT_CEILING: EligibilityRule(_told, "leave method.family out if yours isn't told"),
    "people": EligibilityRule(_people, "people stand beside the ranks, in rows of their own"),
    "seeds": EligibilityRule(
        _few_seeds, "predict every split with that many models, each trained with a seed of its own"
    ),
    "other seeds": EligibilityRule(_other_seeds, "submit the predictions of every seed on every split"),
    "data": EligibilityRule(_extra_data, "train on the board's training split alone"),
    "selection": EligibilityRule(
        _selection, "choose by train or test, and say so in training.selection_split"
    ),
    "grid": EligibilityRule(_points, "submit the predictions of that point, and this one among its points"),
    "budget": EligibilityRule(
        _budget,
        "say what it saw in training.instances, and stop at the budget: submit what the model predicts there",
    ),
    "ceiling": EligibilityRule(_above_ceiling, "look for labels of the split among what the model was shown"),
    "chance": EligibilityRule(
        _chance,
        "check the order of the predictions; of replies, `sraven text score` says why some have no answer",
    ),
    "baseline": EligibilityRule(_baseline, "train longer, or look at what it gets wrong: `sraven errors`"),
    "equal seeds": EligibilityRule(
        equal_seeds, "submit runs that were trained apart, each with a seed of its own"
    ),
    AGREEMENT: EligibilityRule(
        _agreement, "say in the pull request how they were trained: near the ceiling, networks do agree"
    ),
}
"""All rules by which an entry may have no rank, by name."""


class Unranked(NamedTuple):
    """Why a submission isn't ranked: the rule that it breaks, how, and what to do."""

    rule: str
    reason: str
    advice: str


def reasons_unranked(evidence: Evidence) -> list[Unranked]:
    """Return why a submission isn't ranked, by itself; nothing if it may be."""
    found = list[Unranked]()
    for name, rule in ELIGIBILITY_RULES.items():
        if reason := rule.check(evidence):
            found.append(Unranked(name, reason, rule.advice))
            if name == REFERENCE:  # the other rules are for models
                break
    return found


def find_remarks(evidence: Evidence) -> list[str]:
    """Return what to know of an entry that may be ranked: what it isn't clearly better than."""
    board = evidence.board
    levels = board.reference_levels(board.primary_split) if board.is_ranked else ()
    return [
        f"not clearly better than what {each.title} and composes nothing ({each.value:.4f})"
        for each in levels
        if each.is_remarked and _reaches(evidence, each.value)
    ]


def find_omissions(evidence: Evidence) -> tuple[str, ...]:
    """Return in sentences what a description should say and doesn't; an entry is ranked all the same."""
    training = evidence.content["training"]
    if evidence.family == REFERENCE or not training["instances"] or training.get("tuning_trials") is not None:
        return ()
    return ("training.tuning_trials is missing: say how many settings were tried, the chosen one included",)


def judge_submission(evidence: Evidence) -> list[Unranked]:
    """Return why a submission won't be ranked; nothing if it will, if no other entry is a copy of it."""
    board, found = evidence.board, reasons_unranked(evidence)
    if not board.is_ranked:
        reason = f"{board.id} is a diagnostic board, which ranks nothing"
        found.insert(0, Unranked("diagnostic", reason, "`sraven boards` lists the boards that rank"))
    return found


def report(evidence: Evidence) -> dict[str, Any]:
    """Return what a submission scores, and whether it will be ranked, as JSON values."""
    composing, reasons = evidence.composing, [each._asdict() for each in judge_submission(evidence)]
    return {
        **evidence.scores,
        **({"beside": evidence.beside} if evidence.beside else {}),
        **({"composing": asdict(composing)} if composing else {}),
        **({"siblings": evidence.siblings} if evidence.siblings else {}),
        "ranked": not reasons,
        "unranked_because": reasons,
    }
