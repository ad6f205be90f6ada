"""What the process that workers are forked from loads once. Imported by that process and by nothing else."""

import signal

import probcal.run.alone
import probcal.run.workers  # noqa: F401

# A scheduler's SIGTERM to every process of the job is for the run to answer, which ends its workers
# and with them this process. Were it gone first, its workers would look dead.
signal.signal(signal.SIGTERM, lambda *_: None)
