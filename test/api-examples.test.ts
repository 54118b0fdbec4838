import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type {
  CancelResponse,
  JobDetail,
  ListResponse,
  PlanAnswer,
  ResultsAnswer,
  SubmitResponse,
} from '@halogrid/proto';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// Runs the examples of docs/api.md one after another as they stand there, but with another address and other folders.

const checkout = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(join(checkout, 'docs/api.md'), 'utf8');
const examples = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map((match) => match[1]!.trim());
const folder = scratchFolder();
const cluster = await sharedCluster();
after(async () => {
  await cluster.stop();
  rmSync(out, { recursive: true });
  if (readdirSync(dirname(out)).length === 0) rmdirSync(dirname(out));
});

/** The job that examples use, and its output folder. */
let id = '';
let out = '';

async function run(example: string): Promise<string> {
  const script = example
    .replaceAll('http://127.0.0.1:9464', cluster.http)
    .replaceAll('/data/frames', join(checkout, 'samples/frames'))
    .replaceAll('/data/out', join(folder, 'out'));
  const shell = spawn(
    'bash',
    ['-euo', 'pipefail', '-c', `curl() { command curl --silent --show-error "$@"; }\n${script}`],
    {
      cwd: folder,
      env: { ...process.env, ID: id },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const said = Promise.all([text(shell.stdout), text(shell.stderr)]);
  const [code] = await once(shell, 'close');
  const [stdout, stderr] = await said;
  assert.equal(code, 0, stderr);
  return stdout;
}

/** The answer of the first example that contains those words. */
async function answerOf<Answer>(words: string): Promise<Answer> {
  const example = examples.find((one) => one.includes(words));
  assert.ok(example, `an example with ${words}`);
  return JSON.parse(await run(example)) as Answer;
}

test('the quick start computes a job', async () => {
  const { job } = await answerOf<SubmitResponse>('labels=uniform"]}');
  id = job!.jobId;
  out = fileURLToPath(job!.spec!.out);
  const events = (await run(examples.find((one) => one.includes('/watch'))!)).trim().split('\n\n');
  assert.match(events.at(-1)!, /^id: end\ndata: \{"job":\{.*"state":"JOB_STATE_COMPLETE"/);
  assert.ok((await answerOf<{ counted: number }>('histogram.json')).counted > 0);
});

test('examples of lists, plans and results give the described answers', async () => {
  assert.ok((await answerOf<PlanAnswer>('/plan')).mapsBytes > 0);
  assert.ok((await answerOf<ListResponse>('/jobs?state=')).jobs.some(({ jobId }) => jobId === id));
  const detail = examples.find((one) => one.endsWith('/jobs/$ID'))!;
  assert.equal((JSON.parse(await run(detail)) as JobDetail).job!.jobId, id);
  const results = await run(examples.find((one) => one.includes('--range'))!);
  const at = results.indexOf('}{') + 1;
  assert.ok((JSON.parse(results.slice(0, at)) as ResultsAnswer).files.some(({ name }) => name === 'features.parquet'));
  assert.equal(JSON.parse(results.slice(at)).state, 'complete');
  assert.equal(readFileSync(join(folder, 'magic'), 'utf8'), 'PAR1');
  await run(examples.find((one) => one.includes('openapi.json'))!);
  assert.match(JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8')).openapi, /^3\.1\./);
});

test('a job that is submitted with all fields of the example is cancelled, or has ended', async () => {
  const { job } = await answerOf<SubmitResponse>('/data/out');
  assert.deepEqual(job!.asked[0]!.operations, [
    'conv:kernel=gaussian-5,as=u8',
    'lbp:points=16,radius=2,labels=uniform',
  ]);
  assert.deepEqual(job!.spec!.grid, { rows: 2, columns: 3 });
  id = job!.jobId.slice(-6);
  const cancelled = await answerOf<CancelResponse>('/cancel');
  assert.match(cancelled.job!.state, /_(CANCELLED|COMPLETE)$/);
});

test('the refusal is the same as on the page', async () => {
  const shown = /^```json\n(.*?)^```$/ms.exec(page)![1]!;
  assert.deepEqual(await answerOf('"rows": -1'), JSON.parse(shown));
});
