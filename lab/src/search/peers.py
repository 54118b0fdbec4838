# Times the same search with NumPy, FAISS and PyTorch, if they are installed. peers.ts calls it with one JSON object: a
# file of counts (uint32), the number of rows to read, the counts of a row, the rows that are queries, and repetitions.
# Prints a JSON object a line.
import json, os, sys, time
from concurrent.futures import ThreadPoolExecutor

wanted = json.loads(sys.argv[1])
cores = len(os.sched_getaffinity(0))
length, rows, repetitions = wanted["length"], wanted["rows"], wanted["repetitions"]


def measure(name, search, queries=1):
    search()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        search()
        times.append((time.perf_counter() - start) / queries)
    print(json.dumps({"name": name, "rows": rows, "seconds": times}), flush=True)


try:
    import numpy
except ImportError:
    sys.exit(0)
counts = numpy.fromfile(wanted["file"], dtype=numpy.uint32, count=rows * length).reshape(rows, length)
rows = len(counts)
queries = counts[[i % rows for i in wanted["queries"]]]
parts = numpy.array_split(counts, cores * 4)


def intersect(part):
    # Pieces stay in the cache. Otherwise this would measure memory for the minima.
    return [numpy.minimum(piece, queries[0]).sum(axis=1) for piece in numpy.array_split(part, max(1, len(part) // 64))]


with ThreadPoolExecutor(cores) as pool:
    def by_numpy():
        shared = numpy.concatenate([sums for part in pool.map(intersect, parts) for sums in part])
        return numpy.argpartition(-shared.astype(numpy.int64), min(10, rows - 1))[:10]

    measure(f"NumPy {numpy.__version__}, {cores} threads, intersection", by_numpy)

try:
    import faiss

    index = faiss.IndexFlat(length, faiss.METRIC_L1)
    index.add(counts.astype(numpy.float32))
    floats = queries.astype(numpy.float32)
    measure(f"FAISS {faiss.__version__}, {cores} threads, L1 of float32", lambda: index.search(floats[:1], 10))
    measure(
        f"FAISS {faiss.__version__}, {cores} threads, L1 of float32, {len(floats)} queries at once, each",
        lambda: index.search(floats, 10),
        len(floats),
    )
except ImportError:
    pass

try:
    import torch

    if torch.cuda.is_available():
        held = torch.from_numpy(counts.astype(numpy.int32)).cuda()
        asked = torch.from_numpy(queries.astype(numpy.int32)).cuda()
        floats, many = held.float(), asked.float()

        def by_torch():
            found = torch.minimum(held, asked[0]).sum(dim=1).topk(10)
            torch.cuda.synchronize()
            return found

        def many_by_torch():
            found = torch.cdist(many, floats, p=1).topk(10, largest=False)
            torch.cuda.synchronize()
            return found

        measure(f"PyTorch {torch.__version__} on the GPU, intersection", by_torch)
        measure(f"PyTorch {torch.__version__} on the GPU, L1 of float32, {len(many)} queries at once, each", many_by_torch, len(many))
except ImportError:
    pass
