"""A PyTorch training on a CPU that is handed over: it saves when asked to, and starts before its turn."""

import argparse
import os
import time
from pathlib import Path

import spotwarden_preemption as preemption
import torch
from torch import nn


class Training:
    """A model, its optimizer, and how far they are; the curve has a line for each step."""

    def __init__(self, output: Path) -> None:
        """The same on every VM."""
        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.x = torch.randn(512, 8)
        self.y = torch.sin(self.x.sum(1, keepdim=True))
        self.model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Dropout(0.1), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=0.01)
        self.done = 0
        self._checkpoint, self._curve = output / "last.pt", output / "curve.csv"

    def resume(self) -> None:
        """Go on from the checkpoint, where there is one; lines of steps after it are made again."""
        lines: list[str] = []
        if self._checkpoint.exists():
            saved = torch.load(self._checkpoint)
            self.model.load_state_dict(saved["model"])
            self.optimizer.load_state_dict(saved["optimizer"])
            torch.set_rng_state(saved["chance"])
            self.done = saved["step"]
            lines = self._curve.read_text().splitlines(keepends=True)[: self.done]
        self._curve.write_text("".join(lines))

    def step(self) -> None:
        """Make one step."""
        loss = nn.functional.mse_loss(self.model(self.x), self.y)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.done += 1
        with self._curve.open("a") as curve:
            curve.write(f"{self.done},{loss.item()!r}\n")

    def save(self) -> None:
        """Write a checkpoint under another name first, so that a half one never counts."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "chance": torch.get_rng_state(),
            "step": self.done,
        }
        torch.save(state, self._checkpoint.with_suffix(".tmp"))
        self._checkpoint.with_suffix(".tmp").replace(self._checkpoint)


def main() -> None:
    """Train, from the last checkpoint on if there is one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.05, help="Seconds that a step takes at least.")
    options = parser.parse_args()
    guard = preemption.guard()
    training = Training(Path(os.environ.get("SPOTWARDEN_OUTPUT", ".")))
    preemption.wait_for_turn()
    training.resume()
    while training.done < options.steps:
        training.step()
        print("step", training.done, time.time(), flush=True)
        if guard.requested or training.done == options.steps:
            training.save()
        if guard.stopping:
            raise SystemExit(143)
        time.sleep(options.pause)


if __name__ == "__main__":
    main()
