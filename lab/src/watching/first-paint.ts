// Measures how long the pages of the console take to show something.
//   npm run lab -- first-paint [JOBS] [NODES]
// JOBS jobs are done (10,000 unless given); the ledger keeps the newest thousand. A hundred jobs go on, and NODES nodes
// are attached (1,000 unless given).
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openRegistry } from '@halogrid/ledger';
import { openLogLedger } from '@halogrid/ledger/testing-open-log-ledger';
import { JobSpec, type ListResponse } from '@halogrid/proto';
import { eventually } from '@halogrid/testing';
import { ScriptedNode } from '../../../apps/coordinator/src/services/testing/scripted-node.ts';
import { openBrowser } from '../../../test/browser.ts';
import { Cluster } from '../../../test/cluster.ts';
import { drawPicture, writePgm } from '../../../test/picture-files.ts';
import { scratchFolder } from '../../../test/scratch-folder.ts';

const ended = Number(process.argv[2] ?? 10_000);
/** Jobs that go on. */
const jobs = 100;
const nodes = Number(process.argv[3] ?? 1_000);
const repetitions = 7;
/** Jobs submitted at a time. */
const atOnce = 32;

const folder = scratchFolder();
const source = join(folder, 'source.pgm');
await writePgm(source, drawPicture(64, 48));

const options = ['--node-timeout', '600000', '--node-grace', '600000'];
const ledger = join(folder, 'ledger.sqlite');
await writeEnded();
const cluster = await Cluster.start({ ledger, nodes: 0, options, maxLifeMs: 3_600_000 });
await submitJobs();
const grpcPort = Number(new URL(`http://${cluster.address}`).port);
for (let i = 0; i < nodes; i++) {
  // A node without credit gets no lease, and a node that shows nothing is not asked again.
  const node = await ScriptedNode.attach(grpcPort, { nodeId: `n${i}`, name: `node-${i}`, creditBytes: 0 });
  node.showsWhatItSees = false;
}
const open = `${cluster.http}/api/v1/jobs?limit=1&state=running`;
await eventually('all jobs', async () => {
  const { leftOut } = (await (await fetch(open)).json()) as ListResponse;
  return leftOut === jobs - 1;
});
for (const path of ['/metrics', '/api/v1/nodes', '/api/v1/jobs?limit=50']) {
  const answered: number[] = [];
  for (let i = 0; i <= repetitions; i++) {
    const from = performance.now();
    await (await fetch(cluster.http + path)).arrayBuffer();
    if (i > 0) answered.push(performance.now() - from);
  }
  say(path, answered);
}
const browser = await openBrowser();
for (const [name, path, row] of [
  ['the first page', '/', '#jobs tr'],
  ['the page of nodes', '/console/nodes.html', '#nodes li'],
] as const) {
  const painted: number[] = [];
  const shown: number[] = [];
  for (let i = 0; i <= repetitions; i++) {
    const page = await browser.newPage();
    const from = performance.now();
    await page.goto(cluster.http + path);
    await page.locator(row).first().waitFor();
    const tookMs = performance.now() - from;
    const paintMs = Number(await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"));
    await page.goto('about:blank');
    // The first page loads files that the browser keeps.
    if (i === 0) continue;
    painted.push(paintMs);
    shown.push(tookMs);
  }
  say(`${name}, first paint`, painted);
  say(`${name}, first rows`, shown);
}
await browser.close();
await cluster.stop();
process.exit();

/** Writes complete jobs into the ledger. */
async function writeEnded(): Promise<void> {
  const registry = await openRegistry(ledger);
  const opened = await openLogLedger(join(folder, 'logs'), registry);
  const pipeline = { operations: [{ kernel: 'lbp', parameters: {}, border: 'interior' }] };
  const write = async (i: number): Promise<void> => {
    const jobId = `20260101-000000-${i.toString(16).padStart(6, '0')}`;
    const out = pathToFileURL(join(folder, 'ended', jobId)).href;
    const spec = JobSpec.fromPartial({ sources: [pathToFileURL(source).href], pipeline, out, mapFormat: 'none' });
    await opened.createJob({ jobId, spec, submittedMs: i });
    await opened.setState(jobId, 'complete', { nowMs: i });
  };
  for (let i = 0; i < ended; i += atOnce) await Promise.all(Array.from({ length: atOnce }, (_, k) => write(i + k)));
  await opened.close();
  await registry.close();
}

/** Submits jobs that are planned and then wait for a node. */
async function submitJobs(): Promise<void> {
  let next = 0;
  const some = async (): Promise<void> => {
    while (next < jobs) await cluster.jobs.submit({ sources: [source], out: join(folder, 'out', String(next++)) });
  };
  await Promise.all(Array.from({ length: atOnce }, some));
}

function say(what: string, ms: readonly number[]): void {
  const sorted = ms.toSorted((a, b) => a - b);
  const [least, median, most] = [sorted[0]!, sorted[sorted.length >> 1]!, sorted.at(-1)!];
  console.log(`${what}: ${median.toFixed(0)} ms (${least.toFixed(0)} to ${most.toFixed(0)})`);
}
