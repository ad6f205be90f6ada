"""The metrics of plugins: what an experiment can ask for besides the built-in ones (``probcal.components.plugins``)."""

from __future__ import annotations

from importlib import import_module

from probcal.components.plugins import NAME, Declaration, about_text, declarations, import_plugin, refuse_rivals
from probcal.errors import ProbcalError
from probcal.metrics import registry
from probcal.metrics.metric import Metric


def find_metric(name: str) -> Metric | None:
    """Return the metric of this ``name``, built in or of a plugin, or None.

    A plugin's metric is known to ``probcal.metrics`` from then on. Raises ProbcalError if it cannot be imported, or is
    no metric that predictions give.
    """
    metric = registry.find_metric(name)
    if metric is None and NAME.fullmatch(name):
        refuse_rivals("metrics", name)
        plugin = declarations("metrics").get(name)
        if plugin is not None:
            metric = _metric(plugin)
            registry.add_metric(metric)
    return metric


def metric_names() -> dict[str, str]:
    """Return name -> one line about it for the metrics of plugins."""
    return {name: about_text(plugin) for name, plugin in declarations("metrics").items() if name not in registry.NAMED}


def metric_modules(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the modules of those of the metrics ``names`` that plugins declare."""
    plugin_names = [name for name in names if NAME.fullmatch(name) and name not in registry.NAMED]
    plugins = declarations("metrics") if plugin_names else {}
    return tuple(sorted({plugins[name].value.partition(":")[0] for name in plugin_names if name in plugins}))


def _metric(plugin: Declaration) -> Metric:
    module, _, attribute = plugin.value.partition(":")
    metric = import_plugin(plugin, lambda: getattr(import_module(module), attribute))
    if not isinstance(metric, Metric) or metric.name != plugin.name:
        fault = f'is the metric "{metric.name}"' if isinstance(metric, Metric) else "is no probcal.metrics.Metric"
        raise ProbcalError(f'{plugin.package} declares the metric "{plugin.name}", but {plugin.path} {fault}')
    if metric.value is None or metric.measured != "asked":
        raise ProbcalError(
            f'the metric "{plugin.name}" of {plugin.package} needs a value and measured="asked", so that an '
            "experiment can ask for it"
        )
    return metric
