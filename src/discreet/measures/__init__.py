"""Disclosure risk: entropy measures before and after protection, and their estimates for sample tables."""
