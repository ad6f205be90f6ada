"""Numbers and claims of the papers, as data, and the checks of our results against them."""
