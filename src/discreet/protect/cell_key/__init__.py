"""Cell-key perturbation: perturbation tables, record keys, and the method that brings them together."""

from discreet.protect.cell_key.key_noise import CellKey, cell_key
from discreet.protect.cell_key.keys import KeyedTable, record_keys, with_record_keys
from discreet.protect.cell_key.perturbation_table import PTable, design_ptable
from discreet.protect.cell_key.perturbation_table_reader import read_ptable

__all__ = [
    "CellKey",
    "KeyedTable",
    "PTable",
    "cell_key",
    "design_ptable",
    "read_ptable",
    "record_keys",
    "with_record_keys",
]
