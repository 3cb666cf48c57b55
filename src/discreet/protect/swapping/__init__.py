"""Record swapping between areas."""

from discreet.protect.swapping.record_swapping import RecordSwapping, record_swapping, swap_and_count
from discreet.protect.swapping.records import SwappedRecords, swap_records
from discreet.protect.swapping.report import SwapReport

__all__ = ["RecordSwapping", "SwapReport", "SwappedRecords", "record_swapping", "swap_and_count", "swap_records"]
