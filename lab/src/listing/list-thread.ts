// A worker thread that lists a folder. It answers the number of files, the seconds until the first one and until the
// last one, and microseconds of processor time of this thread a file.
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
