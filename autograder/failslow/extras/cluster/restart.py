"""Starts one replica of a cluster again, with its data and on its ports."""

from contextlib import ExitStack

from failslow.base.errors import CannotDo
from failslow.extras.cluster import metrics, ports, replica_processes, start
from failslow.extras.cluster.layout import Layout
from failslow.extras.cluster.state import State


def restart(layout: Layout, current: State, number: int) -> int:
    """Returns the process id once its event loop runs. CannotDo when it runs already, or cannot.

    Requires: the directory is locked (place.locked).
    """
    for process in replica_processes.find(layout.data):
        if process.number == number:
            raise CannotDo(f"replica {number} already runs (pid {process.pid})")
    current.check_comes_back()
    if current.containers:  # never in a student's kit
        from failslow.extras.cluster import containers

        return containers.start(layout, current, number)
    known = current.replicas[number]
    with ExitStack() as stack, start.ended_on_failure(layout, [number]):
        listener = stack.enter_context(ports.listen(known.port))
        redis = {}
        if known.redis_port is not None:
            redis[number] = stack.enter_context(ports.listen(known.redis_port))
        children = start.start(layout, current, {number: listener}, redis)
        if not start.await_true(
            layout, children, lambda: metrics.read(layout.metrics(number)) is not None
        ):
            raise CannotDo(
                f"replica {number} has written no metrics for {start.READY_S:.0f} s: is its disk"
                " full?"
            )
    return children[number].pid
