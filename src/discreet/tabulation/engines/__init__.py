"""The engines that tabulate: one small file each behind the interface of :mod:`discreet.tabulation.engine`."""
