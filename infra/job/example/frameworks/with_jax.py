"""JAX and Orbax, handed over: a checkpoint when it is asked for, whole before the program goes on."""

import argparse
import os
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import orbax.checkpoint as ocp
import spotwarden_preemption as preemption

State = dict[str, jax.Array]


@jax.jit
def make_step(state: State, x: jax.Array, y: jax.Array) -> tuple[State, jax.Array]:
    """One step of gradient descent; gives the loss with it."""

    def loss(weights: State) -> jax.Array:
        hidden = jnp.tanh(x @ weights["first"])
        return jnp.mean((hidden @ weights["second"] - y) ** 2)

    value, slope = jax.value_and_grad(loss)(state)
    return {name: state[name] - 0.05 * slope[name] for name in state}, value


def main() -> None:
    """Train, from the newest checkpoint on if there is one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--pause", type=float, default=0.05)
    options = parser.parse_args()
    guard = preemption.guard()
    first, second, points = jax.random.split(jax.random.key(0), 3)
    state = {
        "first": jax.random.normal(first, (8, 32)) / 3,
        "second": jax.random.normal(second, (32, 1)) / 6,
    }
    x = jax.random.normal(points, (64, 8))
    y = jnp.sin(x.sum(1, keepdims=True))
    make_step(state, x, y)  # compiled before the turn
    preemption.wait_for_turn()
    folder = Path(os.environ.get("SPOTWARDEN_OUTPUT", "."), "checkpoints").absolute()
    manager = ocp.CheckpointManager(folder, options=ocp.CheckpointManagerOptions(max_to_keep=2))
    done = manager.latest_step() or 0
    if done:
        state = manager.restore(done, args=ocp.args.StandardRestore(state))
    while done < options.steps:
        state, loss = make_step(state, x, y)
        done += 1
        loss.block_until_ready()
        print("step", done, time.time(), flush=True)
        if guard.requested:
            manager.save(done, args=ocp.args.StandardSave(state), force=True)
            manager.wait_until_finished()
        if guard.stopping:
            raise SystemExit(143)
        time.sleep(options.pause)
    manager.close()


if __name__ == "__main__":
    main()
