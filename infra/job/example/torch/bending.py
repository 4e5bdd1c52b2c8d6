"""A PyTorch training for a gang that bends, on CPUs by gloo: its curve is the same with any number of nodes.

The data has SHARDS parts, whatever the number of ranks; each rank makes the gradients of its parts, and all
add them up in the order of the parts. So a training that goes on with fewer nodes makes the same steps.
"""

import argparse
import os
import time
from pathlib import Path

import torch
from torch import distributed, nn

SHARDS = 4
EVERY = 5


class Training:
    """A model, its optimizer, how far they are, and the loss of each step so far."""

    def __init__(self, output: Path) -> None:
        """The same on every VM."""
        torch.manual_seed(0)
        torch.set_num_threads(1)
        x = torch.randn(512, 8)
        self._parts = [
            (x[part::SHARDS], torch.sin(x[part::SHARDS].sum(1, keepdim=True))) for part in range(SHARDS)
        ]
        self._model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
        self._optimizer = torch.optim.Adam(self._model.parameters(), lr=0.01)
        self.losses: list[float] = []
        self._checkpoint = output / "last.pt"

    def resume(self) -> None:
        """Go on from the checkpoint, where there is one: all ranks read the same file."""
        if self._checkpoint.exists():
            saved = torch.load(self._checkpoint)
            self._model.load_state_dict(saved["model"])
            self._optimizer.load_state_dict(saved["optimizer"])
            self.losses = saved["losses"]

    def step(self) -> None:
        """Make one step with all the others."""
        rank, ranks = distributed.get_rank(), distributed.get_world_size()
        made = torch.stack(
            [self._row(part) if part % ranks == rank else self._zeros() for part in range(SHARDS)]
        )
        # Each part comes from one rank, so this sum has one term that is not zero.
        distributed.all_reduce(made)
        row = sum(made.unbind()) / SHARDS
        self._take(row[1:])
        self._optimizer.step()
        self.losses.append(row[0].item())

    def save(self) -> None:
        """Write a checkpoint under another name first, so that a half one never counts."""
        state = {
            "model": self._model.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "losses": self.losses,
        }
        torch.save(state, self._checkpoint.with_suffix(".tmp"))
        self._checkpoint.with_suffix(".tmp").replace(self._checkpoint)

    def _row(self, part: int) -> torch.Tensor:
        """The loss of a part of the data, then its gradients."""
        x, y = self._parts[part]
        self._optimizer.zero_grad()
        loss = nn.functional.mse_loss(self._model(x), y)
        loss.backward()
        gradients = [
            parameter.grad.flatten() for parameter in self._model.parameters() if parameter.grad is not None
        ]
        return torch.cat([loss.detach().reshape(1), *gradients])

    def _zeros(self) -> torch.Tensor:
        return torch.zeros(1 + sum(parameter.numel() for parameter in self._model.parameters()))

    def _take(self, gradients: torch.Tensor) -> None:
        parameters = [*self._model.parameters()]
        shares = gradients.split([parameter.numel() for parameter in parameters])
        for parameter, share in zip(parameters, shares, strict=True):
            parameter.grad = share.reshape(parameter.shape)


def main() -> None:
    """Train, from the last checkpoint on if there is one; `torchrun` says who is who."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--pause", type=float, default=0.1, help="Seconds that a step takes at least.")
    options = parser.parse_args()
    distributed.init_process_group("gloo")
    rank, ranks = distributed.get_rank(), distributed.get_world_size()
    training = Training(Path(os.environ.get("SPOTWARDEN_OUTPUT", ".")))
    training.resume()
    who = f"rank {rank} of {ranks} epoch {os.environ.get('SPOTWARDEN_ATTEMPT', '1')} pid {os.getpid()}"
    print(f"begin {len(training.losses)} {who} at {time.time():.3f}", flush=True)
    while len(training.losses) < options.steps:
        training.step()
        done = len(training.losses)
        print(f"step {done} loss {training.losses[-1]!r} {who} at {time.time():.3f}", flush=True)
        if rank == 0 and (done % EVERY == 0 or done == options.steps):
            training.save()
        time.sleep(options.pause)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
