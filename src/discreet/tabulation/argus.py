"""Files of τ-ARGUS: microdata, tables and metadata."""

from discreet.tabulation.argus_microdata import Microdata, read_microdata
from discreet.tabulation.argus_tab import TabularFile, read_tab, write_tab
from discreet.tabulation.rda import Metadata, Variable, read_rda

__all__ = ["Metadata", "Microdata", "TabularFile", "Variable", "read_microdata", "read_rda", "read_tab", "write_tab"]
