// Plans and runs jobs of different kinds, and compares what their plans promise with what the runs take.
//   npm run lab -- estimates [--jobs NAME] [--repetitions 3] [--idle-seconds 60] [--json FILE]
//     [--folder halogrid-out/estimates]
// lab/src/estimates/README.md says how.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { sendFile, startServer, type TestServer } from '../../../libs/sources/src/testing/servers.ts';
import { halogrid } from '../../../test/halogrid.ts';
import { makeInputs } from './inputs.ts';
import { type Job, jobs } from './jobs.ts';
import { describeFit, describeRows, type Promised, type Row } from './table.ts';
import { untilIdle } from './until-idle.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: 'halogrid-out/estimates' },
    jobs: { type: 'string', default: '' },
    repetitions: { type: 'string', default: '3' },
    json: { type: 'string' },
    'idle-seconds': { type: 'string', default: '60' },
  },
});
const folder = resolve(values.folder);
const inputs = join(folder, 'inputs');
const out = join(folder, 'out');
// Memories of runs are in the cache folder of the user.
process.env.XDG_CACHE_HOME = join(folder, 'cache');
process.env.NODE_COMPILE_CACHE = join(folder, 'cache', 'compiled');
const remembered = join(folder, 'cache', 'halogrid', 'runs.json');
mkdirSync(join(folder, 'cache', 'halogrid'), { recursive: true });
await makeInputs(inputs);
const server = await serveFolder(inputs);

const named = jobs.filter(({ name }) => name === values.jobs);
const chosen = named.length > 0 ? named : jobs.filter(({ name }) => name.includes(values.jobs));
const rows: Row[] = [];
/** The memory of the first run of each job: the text of runs.json. */
const files: string[] = [];
for (const job of chosen) {
  const { row, file } = await measureJob(job, Number(values.repetitions));
  rows.push(row);
  files.push(file);
  console.log(describeRows([row]).split('\n').at(-1));
}
for (const [i, job] of chosen.entries()) {
  if (chosen.length === 1) break;
  writeFileSync(remembered, together(files.filter((_, other) => other !== i)));
  rows[i]!.others = (await plan(job)).promised;
}
console.log(`\n${describeRows(rows)}\n\n${describeFit(rows)}`);
if (values.json) writeFileSync(values.json, JSON.stringify({ rows, files }, null, 1));
await server.close();
rmSync(out, { recursive: true, force: true });

/** Plans the job, runs it, plans it again, and runs it until there are `repetitions` runs. */
async function measureJob(job: Job, repetitions: number): Promise<{ row: Row; file: string }> {
  rmSync(remembered, { force: true });
  const { promised: before, shards } = await plan(job);
  const runSeconds = [await run(job)];
  // A run is not remembered if its plan had not begun when its nodes were ready, as on a busy machine.
  for (let i = 0; i < 3 && !existsSync(remembered); i++) runSeconds[0] = await run(job);
  const file = readFileSync(remembered, 'utf8');
  const { promised: after } = await plan(job);
  while (runSeconds.length < repetitions) runSeconds.push(await run(job));
  return { row: { name: job.name, shards, runSeconds, before, after }, file };
}

async function plan(job: Job): Promise<{ promised: Promised; shards: number }> {
  const { shards, estimate } = await command('plan', job);
  const { seconds, lowSeconds, highSeconds } = estimate;
  return { promised: { seconds, lowSeconds, highSeconds }, shards };
}

async function run(job: Job): Promise<number> {
  await untilIdle(Number(values['idle-seconds']));
  const { wallSeconds } = await command('run', job);
  return wallSeconds;
}

async function command(name: string, job: Job) {
  // Otherwise the job would keep the results in the folder.
  rmSync(out, { recursive: true, force: true });
  const args = [name, ...sourcesOf(job), ...job.options, '--out', out, '--json'];
  const { code, stdout, stderr } = await halogrid(args, { maxLifeMs: 3_600_000 });
  if (code !== 0) throw new Error(`halogrid ${args.join(' ')} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** The sources of a job on the command line. A folder on the server becomes a manifest of its files. */
function sourcesOf({ source, isRemote }: Job): string[] {
  if (!isRemote) return [join(inputs, source)];
  if (source.includes('.')) return [`${server.origin}/${source}`];
  const manifest = join(folder, `${source}.txt`);
  const names = readdirSync(join(inputs, source));
  writeFileSync(manifest, names.map((name) => `${server.origin}/${source}/${name}`).join('\n'));
  return [manifest];
}

/** One text of the memories of several runs. */
function together(texts: readonly string[]): string {
  const parsed = texts.map((text) => JSON.parse(text));
  return JSON.stringify({ ...parsed[0], runs: parsed.flatMap(({ runs }) => runs) });
}

/** Serves the files of a folder over HTTP on this machine. Requested files stay in memory. */
function serveFolder(folder: string): Promise<TestServer> {
  const files = new Map<string, Promise<Uint8Array>>();
  return startServer(async (request, response) => {
    const path = new URL(request.url!, 'http://localhost').pathname;
    const read = files.get(path) ?? readFile(join(folder, decodeURIComponent(path)));
    files.set(path, read);
    sendFile({ bytes: await read, etag: `"${path}"` }, request, response);
  });
}
