"""How every function of governance escalates."""

from spotwarden.decide import blast, case_progress, escalation, pairing
from spotwarden.model.escalation import Escalation

ESCALATION = Escalation(
    paired=pairing.paired,
    next_step=escalation.next_step,
    after=case_progress.after,
    portion=blast.portion,
    too_many=blast.too_many,
)
