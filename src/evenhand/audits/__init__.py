"""One declaration per statistic: the data it needs, its function, its scale, whom it describes and its estimand.

A family of estimands is one module of this package with a function ``estimates(evidence)``; the registry finds it.
"""
