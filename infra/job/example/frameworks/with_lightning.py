"""Lightning, handed over: a callback saves when asked to; what a checkpoint holds is enough to go on from."""

import argparse
import os
import time
from pathlib import Path

import lightning as pl
import spotwarden_preemption as preemption
import torch
from torch import nn


class Model(pl.LightningModule):
    """A little regression."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))

    def training_step(self, batch: list[torch.Tensor], _batch_idx: int) -> torch.Tensor:
        """The loss of a batch."""
        x, y = batch
        return nn.functional.mse_loss(self.layers(x), y)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Adam."""
        return torch.optim.Adam(self.parameters(), lr=0.01)


class Save(pl.Callback):
    """Asks once a step whether to save, and whether to end."""

    def __init__(self, guard: preemption.Guard, path: Path, pause: float) -> None:
        self._guard, self._path, self._pause = guard, path, pause

    def on_train_batch_end(self, trainer: pl.Trainer, *_rest: object) -> None:
        """After each step."""
        print("step", trainer.global_step, time.time(), flush=True)
        self._save(trainer)
        trainer.should_stop = self._guard.stopping
        time.sleep(self._pause)

    def on_exception(self, trainer: pl.Trainer, *_rest: object) -> None:
        """SIGTERM: Lightning takes it for itself, and leaves the loop by an exception."""
        self._save(trainer)

    def _save(self, trainer: pl.Trainer) -> None:
        if self._guard.requested:
            new = self._path.with_suffix(".tmp")
            trainer.save_checkpoint(new)
            new.replace(self._path)


def main() -> None:
    """Train, from the checkpoint on if there is one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.05)
    options = parser.parse_args()
    guard = preemption.guard()
    pl.seed_everything(0)
    torch.set_num_threads(1)
    x = torch.randn(64, 8)
    data = torch.utils.data.TensorDataset(x, torch.sin(x.sum(1, keepdim=True)))
    path = Path(os.environ.get("SPOTWARDEN_OUTPUT", "."), "last.ckpt")
    trainer = pl.Trainer(
        max_steps=options.steps,
        accelerator="cpu",
        callbacks=[Save(guard, path, options.pause)],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    preemption.wait_for_turn()
    batches = torch.utils.data.DataLoader(data, batch_size=64)
    trainer.fit(Model(), batches, ckpt_path=str(path) if path.exists() else None)
    if guard.stopping:
        raise SystemExit(143)


if __name__ == "__main__":
    main()
