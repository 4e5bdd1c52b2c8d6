"""GPUs are as busy as the processes that could see them."""

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from localcloud.machines.gpus import Sample, cards_of, utilization
from localcloud.machines.gpus.attribution import visible

FOUR = [
    {"acceleratorType": "https://x/acceleratorTypes/nvidia-tesla-t4", "acceleratorCount": 3},
    {"acceleratorType": "https://x/acceleratorTypes/nvidia-l4-vws", "acceleratorCount": 1},
]
CARDS = cards_of({"id": "1", "guestAccelerators": FOUR})


def sample(pid, seconds, *gpus, parent=1):
    """A process at one moment."""
    return Sample(pid=pid, parent=parent, seconds=seconds, gpus=gpus)


def busy(before, after, elapsed=10.0):
    """The four cards' percentages."""
    return utilization(before, after, elapsed=elapsed, cards=CARDS)


def test_cards_are_numbered_over_all_accelerators():
    """Numbers, names and memory as the driver would tell them; identities differ and stay."""
    assert [(card.number, card.model, card.memory_mib) for card in CARDS] == [
        (0, "Tesla T4", 15360),
        (1, "Tesla T4", 15360),
        (2, "Tesla T4", 15360),
        (3, "NVIDIA L4", 23034),
    ]
    assert len({card.uuid for card in CARDS}) == 4
    assert cards_of({"id": "1", "guestAccelerators": FOUR}) == CARDS


def test_an_unknown_accelerator_goes_by_its_own_name():
    """A new kind of GPU is no error."""
    made = cards_of(
        {"id": "1", "guestAccelerators": [{"acceleratorType": "x/nvidia-x9", "acceleratorCount": 1}]}
    )
    assert made[0].model == "nvidia-x9"


def test_an_instance_without_accelerators_has_no_cards():
    """Neither measured nor shown."""
    assert cards_of({"id": "1"}) == []


@pytest.mark.parametrize(
    ("environment", "numbers"),
    [
        ({}, (0, 1, 2, 3)),
        ({"CUDA_VISIBLE_DEVICES": "2"}, (2,)),
        ({"CUDA_VISIBLE_DEVICES": "3, 1"}, (3, 1)),
        ({"CUDA_VISIBLE_DEVICES": ""}, ()),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, ()),
        ({"CUDA_VISIBLE_DEVICES": "NoDevFiles"}, ()),
        ({"CUDA_VISIBLE_DEVICES": "1,9,2"}, (1,)),
        ({"CUDA_VISIBLE_DEVICES": CARDS[2].uuid}, (2,)),
        ({"CUDA_VISIBLE_DEVICES": CARDS[2].uuid[:12]}, (2,)),
        ({"CUDA_VISIBLE_DEVICES": "GPU-"}, ()),
        ({"LOCAL_RANK": "1"}, (1,)),
        ({"LOCAL_RANK": "1", "CUDA_VISIBLE_DEVICES": "3,2"}, (2,)),
        ({"LOCAL_RANK": "7"}, (0, 1, 2, 3)),
        ({"LOCAL_RANK": "one"}, (0, 1, 2, 3)),
    ],
)
def test_a_process_works_for_the_gpus_that_it_sees(environment, numbers):
    """`CUDA_VISIBLE_DEVICES` up to its first mistake, `LOCAL_RANK` as an index into that, else all."""
    assert visible(environment, CARDS) == numbers


def test_a_busy_process_keeps_its_gpu_busy_and_no_other():
    """Ten seconds of work in ten seconds are 100 %."""
    assert busy([sample(7, 5.0, 1)], [sample(7, 15.0, 1)]) == [0, 100, 0, 0]


def test_a_sleeping_process_does_not():
    """Time that passes is not work."""
    assert busy([sample(7, 5.0, 1)], [sample(7, 5.0, 1)]) == [0, 0, 0, 0]


def test_work_without_a_gpu_of_its_own_is_spread_over_all():
    """In equal shares."""
    assert busy([], [sample(7, 4.0, 0, 1, 2, 3)]) == [10, 10, 10, 10]


def test_a_process_that_sees_no_gpu_keeps_none_busy():
    """Such as the data loader of a job that hides the GPUs from it."""
    assert busy([], [sample(7, 10.0)]) == [0, 0, 0, 0]


def test_more_than_a_core_is_still_all():
    """Percentages end at 100."""
    assert busy([], [sample(7, 80.0, 2), sample(8, 80.0, 2)]) == [0, 0, 100, 0]


def test_a_child_that_ended_counts_for_its_parent():
    """What it did since the last look is in the parent's time; what was seen before does not count twice."""
    before = [sample(7, 1.0, 0), sample(8, 6.0, 0, parent=7)]
    after = [sample(7, 9.0, 0)]  # its own 1 s, and 8 s of the child: 6 known, 2 new
    assert busy(before, after) == pytest.approx([20, 0, 0, 0])


@given(
    st.lists(st.tuples(st.integers(1, 9), st.floats(0, 100), st.sets(st.integers(0, 3))), max_size=9),
    st.lists(st.tuples(st.integers(1, 9), st.floats(0, 100), st.sets(st.integers(0, 3))), max_size=9),
)
def test_percentages_are_always_percentages(before, after):
    """Whatever is seen, processes that vanish and numbers used again included."""
    looks = [[sample(pid, seconds, *gpus) for pid, seconds, gpus in look] for look in (before, after)]
    assert all(0 <= percent <= 100 for percent in busy(*looks))


WORK = """
import os, sys, time
open(f"ready-{os.getpid()}", "w").close()
while True:
    sum(range(10000))
"""


def of_gpus(world):
    """The points about GPUs that were sent."""
    return [point for point in world.points if "/gpu/" in point.metric]


def test_a_real_job_is_measured_per_gpu(run, vm, world, eventually):
    """The busy process's GPU is busy in the metric, the sleeping one's is idle."""
    script = "CUDA_VISIBLE_DEVICES=1 python work.py & CUDA_VISIBLE_DEVICES=0 sleep 300 & wait"
    script = f"cat > work.py <<'END'\n{WORK}\nEND\n" + script.replace("python", sys.executable)

    def last(number):
        values = [point.value for point in of_gpus(world) if point.metric_labels["gpu_number"] == number]
        return values[-1] if values else 0.0

    async def scene():
        await vm(startup_script=script, gpus=2)
        await eventually(lambda: last("1") > 2)

    run(scene())
    assert last("0") < last("1")
    point = of_gpus(world)[-1]
    assert point.metric == "agent.googleapis.com/gpu/utilization"
    assert point.metric_labels["model"] == "Tesla T4"
    assert point.resource == "gce_instance"
    assert point.resource_labels == {
        "project_id": "demo",
        "instance_id": "1234567890123456789",
        "zone": "us-central1-a",
    }


def test_a_machine_without_gpus_sends_nothing(run, vm, world):
    """Not even zeros: there is no such series."""

    async def scene():
        machine = await vm(startup_script="sleep 0.5")
        await machine.finished()

    run(scene())
    assert of_gpus(world) == []


def test_nothing_is_sent_after_the_end(run, vm, world, eventually):
    """A machine that is off has no utilization, not a zero one."""

    async def scene():
        machine = await vm(startup_script="sleep 300", gpus=1)
        await eventually(lambda: of_gpus(world))
        await machine.machines.kill(machine.id)
        sent = len(of_gpus(world))
        uptime = await vm(startup_script="sleep 0.5", metadata={})
        await uptime.finished()
        return sent

    assert run(scene()) == len(of_gpus(world))


@pytest.fixture
def nvidia_smi(run, vm):
    """What nvidia-smi prints in a machine with this many GPUs, and its status."""

    def ask(arguments, gpus=2):
        async def scene():
            machine = await vm(startup_script=f"nvidia-smi {arguments}", gpus=gpus)
            said = await machine.finished()
            return said, next(int(line.split()[-1]) for line in machine.messages if "exit status" in line)

        return run(scene())

    return ask


def test_nvidia_smi_lists_the_gpus(nvidia_smi):
    """`-L`, as scripts count them."""
    said, status = nvidia_smi("-L")
    assert status == 0
    assert [line.split(" (UUID: GPU-")[0] for line in said.splitlines()] == [
        "GPU 0: Tesla T4",
        "GPU 1: Tesla T4",
    ]


QUERY = "--query-gpu=index,name,memory.total,utilization.gpu,memory.used --format=csv"


def test_nvidia_smi_answers_queries(nvidia_smi):
    """`--query-gpu` in the order asked, with header and units."""
    said, _status = nvidia_smi(QUERY)
    assert said.splitlines()[:2] == [
        "index, name, memory.total [MiB], utilization.gpu [%], memory.used",
        "0, Tesla T4, 15360 MiB, 0 %, [N/A]",
    ]


def test_nvidia_smi_leaves_out_what_is_not_wanted(nvidia_smi):
    """`noheader` and `nounits`, as programs read it."""
    bare, _status = nvidia_smi(f"{QUERY},noheader,nounits")
    assert bare.splitlines() == ["0, Tesla T4, 15360, 0, [N/A]", "1, Tesla T4, 15360, 0, [N/A]"]


def test_nvidia_smi_can_be_asked_about_one_gpu(nvidia_smi):
    """`-i 1`."""
    said, _status = nvidia_smi("--query-gpu=index --format=csv,noheader -i 1")
    assert said == "1\n"


def test_nvidia_smi_prints_a_table(nvidia_smi):
    """For people: one row for each GPU."""
    said, status = nvidia_smi("")
    assert status == 0
    assert said.count("Tesla T4") == 2
    assert "NVIDIA-SMI" in said


def test_nvidia_smi_has_no_driver_without_gpus(nvidia_smi):
    """With the words and the status that scripts look for."""
    said, status = nvidia_smi("", gpus=0)
    assert status == 9
    assert said.startswith("NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("--query-gpu=nope --format=csv", 'Field "nope" is not a valid field to query.'),
        ("--query-gpu=index", "must be given together"),
        ("--query-gpu=index --format=xml", "--format is csv"),
        ("dmon", "does not take 'dmon'"),
        ("-i 9 -L", "No devices were found"),
    ],
)
def test_nvidia_smi_refuses_what_it_does_not_know(nvidia_smi, arguments, said):
    """With a reason and a status other than 0."""
    output, status = nvidia_smi(arguments)
    assert said in output
    assert status != 0
