"""Reports of assessments and comparisons: one file for a person to read, print and sign.

A report is made of plain data, the versioned ``to_dict()`` of an assessment or a comparison, and of nothing else.
"""

from discreet.report.html import notebook
from discreet.report.pictures import write_pictures
from discreet.report.writing import write_report

__all__ = ["notebook", "write_pictures", "write_report"]
