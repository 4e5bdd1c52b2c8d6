"""Commands that start jobs: what they are asked for with, checked, packed and sent."""
