"""Hugging Face's Trainer, handed over: a callback asks for the checkpoint, the Trainer writes it."""

import argparse
import os
import time

import spotwarden_preemption as preemption
import torch
from torch import nn
from transformers import Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint


class Model(nn.Module):
    """A little regression, with the loss where the Trainer looks for it."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, x: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        """The loss of a batch."""
        return {"loss": nn.functional.mse_loss(self.layers(x), labels)}


class Save(TrainerCallback):
    """Asks once a step whether to save, and whether to end."""

    def __init__(self, guard: preemption.Guard, pause: float) -> None:
        self._guard, self._pause = guard, pause

    def on_step_end(
        self, _args: TrainingArguments, state: TrainerState, control: TrainerControl, **_rest: object
    ) -> None:
        """After each step; the Trainer saves, and then ends."""
        print("step", state.global_step, time.time(), flush=True)
        if self._guard.requested:
            control.should_save = True
        if self._guard.stopping:
            control.should_training_stop = True
        time.sleep(self._pause)


def main() -> None:
    """Train, from the newest checkpoint on if there is one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.05)
    options = parser.parse_args()
    guard = preemption.guard()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    x = torch.randn(64, 8)
    data = [{"x": row, "labels": torch.sin(row.sum()).reshape(1)} for row in x]
    output = os.environ.get("SPOTWARDEN_OUTPUT", ".")
    arguments = TrainingArguments(
        output_dir=output,
        max_steps=options.steps,
        per_device_train_batch_size=16,
        save_strategy="no",
        save_total_limit=2,
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = Trainer(
        model=Model(), args=arguments, train_dataset=data, callbacks=[Save(guard, options.pause)]
    )
    preemption.wait_for_turn()
    trainer.train(resume_from_checkpoint=get_last_checkpoint(output))
    if guard.stopping:
        raise SystemExit(143)


if __name__ == "__main__":
    main()
