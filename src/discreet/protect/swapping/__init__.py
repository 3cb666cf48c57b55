"""Record swapping between areas."""

from discreet.protect.swapping.pairs import SwapReport
from discreet.protect.swapping.record_swapping import RecordSwapping, record_swapping, swap_and_count
from discreet.protect.swapping.swapped_records import SwappedRecords, swap_records

__all__ = ["RecordSwapping", "SwapReport", "SwappedRecords", "record_swapping", "swap_and_count", "swap_records"]
