"""How every function of governance escalates."""

from spotwarden.governance.cases import blast, escalation, pairing, progress
from spotwarden.model.escalation import Escalation

ESCALATION = Escalation(
    paired=pairing.paired,
    next_step=escalation.next_step,
    after=progress.after,
    portion=blast.portion,
    too_many=blast.too_many,
)
