"""The ledger of what has been published, and the check of a new release against all of it."""

from discreet.decide.ledger.check_result import Change, LedgerCheck, LedgerFinding
from discreet.decide.ledger.entry import Amendment, Entry
from discreet.decide.ledger.ledger import Ledger

__all__ = ["Amendment", "Change", "Entry", "Ledger", "LedgerCheck", "LedgerFinding"]
