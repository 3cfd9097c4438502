# verdict: candidate_runtime_error
# It asks somebody else.
# after honest.py
import socket


class ModelNew(ModelNew):
    def forward(self, x):
        socket.create_connection(("127.0.0.1", 80), 1)
        return launch(x, self.weight, torch.empty_like(x))
