# verdict: candidate_runtime_error interface_contract_error syntax_error
# The reference under another name.
# after honest.py
from task import Model


class ModelNew(Model):
    pass
