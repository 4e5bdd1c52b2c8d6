"""A small PyTorch training on CPUs: one process, or one on each node of a gang, by gloo."""

import argparse
import os
import time
from pathlib import Path

import torch
from torch import distributed, nn

EVERY = 5


def data(rank: int, nodes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """This node's share of the points; the same on every attempt."""
    chance = torch.Generator().manual_seed(7)
    x = torch.randn(512, 8, generator=chance)
    y = torch.sin(x.sum(1, keepdim=True))
    return x[rank::nodes], y[rank::nodes]


def main() -> None:
    """Train, from the last checkpoint on if there is one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--pause", type=float, default=0.1, help="Seconds that a step takes at least.")
    options = parser.parse_args()
    nodes, rank = int(os.environ.get("NNODES", "1")), int(os.environ.get("NODE_RANK", "0"))
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model: nn.Module = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    # The first node's checkpoint is everybody's: the output comes back on all of them.
    checkpoint, done = Path(os.environ.get("SPOTWARDEN_OUTPUT", "."), "last.pt"), 0
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        done = saved["step"]
    if nodes > 1:
        distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(model)
    print(f"begins after step {done}, node {rank + 1} of {nodes}", flush=True)
    x, y = data(rank, nodes)
    while done < options.steps:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        done += 1
        print(f"step {done} loss {loss.item():.6f}", flush=True)
        if rank == 0 and (done % EVERY == 0 or done == options.steps):
            bare = model.module if nodes > 1 else model
            state = {"model": bare.state_dict(), "optimizer": optimizer.state_dict(), "step": done}
            torch.save(state, checkpoint.with_suffix(".tmp"))
            checkpoint.with_suffix(".tmp").replace(checkpoint)
        time.sleep(options.pause)
    if nodes > 1:
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
