"""What kinds of accelerators there are."""

GPU, TPU_CHIP = "GPU", "TPU chip"
"""What a person calls one of them."""
TPU = "tpu"
"""With this begins the type of every TPU, as `tpu-v6e` and `tpu7x`."""


def is_tpu(kind: str) -> bool:
    """Whether accelerators of this type are TPU chips; else they are GPUs."""
    return kind.startswith(TPU)


def noun(kind: str) -> str:
    """What a person calls one accelerator of this type."""
    return TPU_CHIP if is_tpu(kind) else GPU
