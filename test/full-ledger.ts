// Runs as a separate program in a mount namespace with a small disk. full-ledger.ts DISK SOURCE OUT runs a job with a
// coordinator whose ledger is on that disk, and fills the disk meanwhile.
import { closeSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, pause } from '@halogrid/testing';
import { Cluster } from './cluster.ts';
import { slowFiles } from './slow-files.ts';

const [disk, source, out] = process.argv.slice(2) as [string, string, string];
const filler = join(disk, 'filler');

function fillDisk(): void {
  const file = openSync(filler, 'w');
  const page = Buffer.alloc(4096);
  try {
    for (;;) writeSync(file, page);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
}

const cluster = await Cluster.start({ ledger: join(disk, 'ledger.sqlite'), nodes: 0 });
await cluster.startNode('n1', 'cpu', { env: slowFiles('picture.pgm') });
const jobId = await cluster.jobs.submit({ sources: [source], out, tilePx: 200, map: 'tiff' });
await cluster.halfWay(jobId);
fillDisk();
const said = await eventually('the coordinator to say so', async () => {
  const answer = await fetch(`${cluster.http}/readyz`);
  return answer.status === 503 && (await answer.text());
});
// Answers to the present leases still come in but are not acknowledged; then nothing moves.
let before = -1;
const waiting = await eventually('the job to wait', async () => {
  const job = await cluster.job(jobId);
  const { shardsDone } = job.counts!;
  if (shardsDone === before) return job.state;
  before = shardsDone;
  await pause(500);
  return undefined;
});
rmSync(filler);
const { state } = await cluster.jobs.untilEnded(jobId);
const codes = await cluster.stop();
console.log(JSON.stringify({ said, waiting, state, codes }));
