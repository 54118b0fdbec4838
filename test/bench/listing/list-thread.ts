// Runs in a worker thread: lists a folder, and answers how many files there are, after how many seconds the first came,
// and all, and microseconds of processor time of this thread a file.
import { parentPort, workerData } from 'node:worker_threads';
import { listAllSources } from '@halogrid/sources';

const startMs = performance.now();
const before = process.threadCpuUsage();
let files = 0;
let first = 0;
for await (const sources of listAllSources([workerData])) {
  if (files === 0) first = (performance.now() - startMs) / 1000;
  files += sources.length;
}
const { user, system } = process.threadCpuUsage(before);
parentPort!.postMessage({ files, first, whole: (performance.now() - startMs) / 1000, cpu: (user + system) / files });
