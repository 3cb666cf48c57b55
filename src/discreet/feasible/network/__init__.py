"""Groups whose equations form a network: bounds by maximum flow."""
