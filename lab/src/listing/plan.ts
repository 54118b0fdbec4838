// Measures listing and planning a folder of small files beside `find -printf '%p %s %T@'`, in turns.
//   npm run lab -- listing [FOLDER] [REPETITIONS]
// If FOLDER does not exist, it is made with a million JPEGs of 103 bytes. Prints for each repetition seconds and
// microseconds a file: of find, of listing alone, and of planning by the thread of a plan. The latter two also have the
// seconds until the first file or shard. Prints the largest memory of the process, too.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { JobSpec } from '@halogrid/proto';
import { PlanThreads } from '../../../apps/coordinator/src/plan/plan-threads.ts';

const [folder = '/tmp/halogrid-million', repetitions = '3'] = process.argv.slice(2);
if (!existsSync(folder)) {
  mkdirSync(folder, { recursive: true });
  const bytes = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(100, 'x')]);
  for (let i = 0; i < 1e6; i++) writeFileSync(join(folder, `frame-${String(i).padStart(8, '0')}.jpg`), bytes);
}
const uri = pathToFileURL(folder).href;
const say = (what: string, seconds: number, files: number, more = ''): void =>
  console.log(`${what}: ${seconds.toFixed(2)} s, ${((seconds * 1e6) / files).toFixed(2)} µs a file${more}`);

function find(): number {
  const startMs = performance.now();
  execFileSync('find', [folder, '-printf', '%p %s %T@\\n'], { stdio: 'ignore' });
  return (performance.now() - startMs) / 1000;
}

async function list() {
  const worker = new Worker(new URL('./list-thread.ts', import.meta.url), { workerData: uri });
  return await new Promise<{ files: number; first: number; whole: number; cpu: number }>((resolve, reject) => {
    worker.once('message', resolve).once('error', reject);
  });
}

async function plan() {
  const operations = [{ kernel: 'lbp', parameters: {}, border: '' }];
  const spec = JobSpec.fromPartial({
    sources: [uri],
    pipeline: { operations },
    out: pathToFileURL('/tmp/halogrid-no-output').href,
    mapFormat: 'none',
    grid: { rows: 1, columns: 1 },
  });
  const thread = new PlanThreads();
  thread.prepare();
  await thread.check([uri]);
  const startMs = performance.now();
  const [all, main] = [process.cpuUsage(), process.threadCpuUsage()];
  let first = 0;
  let shards = 0;
  for await (const steps of thread.plan(spec)) {
    for (const { kind } of steps) if (kind === 'shard' && shards++ === 0) first = (performance.now() - startMs) / 1000;
  }
  const whole = (performance.now() - startMs) / 1000;
  const sum = ({ user, system }: NodeJS.CpuUsage): number => user + system;
  const used = { all: sum(process.cpuUsage(all)), main: sum(process.threadCpuUsage(main)) };
  await thread.close();
  return { first, whole, shards, ...used };
}

for (let i = 0; i < Number(repetitions); i++) {
  const found = find();
  const listed = await list();
  const planned = await plan();
  const { files } = listed;
  say('find', found, files);
  say(
    'listed',
    listed.whole,
    files,
    `, first after ${listed.first.toFixed(2)} s, ${listed.cpu.toFixed(2)} µs of its thread`,
  );
  const cpu = `${(planned.all / files).toFixed(2)} µs of all threads, ${(planned.main / files).toFixed(2)} of the main one`;
  say(
    'planned',
    planned.whole,
    files,
    `, first of ${planned.shards} shards after ${planned.first.toFixed(2)} s, ${cpu}`,
  );
  console.log(`memory ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`);
}
