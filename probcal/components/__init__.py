"""What a name in a YAML file stands for: import paths, trust, plugins and nesting. Nothing here knows a learner."""
