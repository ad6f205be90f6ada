"""Which components explain the witnesses that changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def explain(changed: Mapping[str, Collection[str]], equal: Mapping[str, Collection[str]]) -> dict[str, int]:
    """Return a smallest set of components that explains the changed witnesses: component -> changed witnesses.

    ``changed`` and ``equal`` map each witness to its components. Each step takes the component of whose witnesses the
    largest share changed, which is a greedy set cover. Components that only occur together, such as a map and its
    classifier, cannot be told apart, and stand in one text: ``sigmoid or sigmoid map``.
    """
    left = {name: frozenset(components) for name, components in changed.items()}
    explanation: dict[str, int] = {}
    while any(left.values()):
        parts_left = sorted(set().union(*left.values()))
        users = {part: frozenset(name for name, parts in left.items() if part in parts) for part in parts_left}
        quiet = {part: sum(part in parts for parts in equal.values()) for part in users}
        best = max(users, key=lambda part: (len(users[part]) / (len(users[part]) + quiet[part]), len(users[part])))
        rivals = sorted(part for part in users if (users[part], quiet[part]) == (users[best], quiet[best]))
        explanation[" or ".join(rivals)] = len(users[best])
        left = {name: components for name, components in left.items() if name not in users[best]}
    return explanation
