"""What scripts that compare with PyTorch on a Hopper GPU begin with: importing it ends the program with 77 where there is no
PyTorch or no such GPU. Also CUDA graphs, and their times in turn."""

import sys

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)
if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
    print("skipped: no Hopper GPU")
    sys.exit(77)


class Graph:
    """A graph of what body() launches, captured after a first run of it. `result` is what body returned; it lives as long as the graph."""

    def __init__(self, body, stream=None):
        with torch.cuda.stream(stream):
            body()
        torch.cuda.synchronize()
        self.body, self.graph = body, torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=stream):
            self.result = body()

    def milliseconds(self):
        """Of a replay, which waits for the host behind a kernel that sleeps: else short graphs wait for it within the time."""
        before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda._sleep(200000)
        before.record()
        self.graph.replay()
        after.record()
        after.synchronize()
        return before.elapsed_time(after)


def graph_of(functions, launches):
    """A graph of so many launches, which take the functions in turn."""
    for function in functions:
        function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for i in range(launches):
            functions[i % len(functions)]()
    return graph


def microseconds(graph, launches):
    """Of a launch in the graph; it waits for the host behind a kernel that sleeps."""
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(100000)
    first.record()
    graph.replay()
    last.record()
    last.synchronize()
    return first.elapsed_time(last) / launches * 1e3


def in_turn(graphs, rounds):
    """For each graph the milliseconds of its replays, all replayed in turn; the first three are left out."""
    times = [[] for _ in graphs]
    for turn in range(rounds + 3):
        for graph, out in zip(graphs, times):
            spent = graph.milliseconds()
            if turn >= 3:
                out.append(spent)
    return times


def device():
    return f"{torch.cuda.get_device_name()}, torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}"
