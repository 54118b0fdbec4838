import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ServingCluster } from './cluster.ts';
import { drawPicture, writePgm } from './picture-files.ts';
import { hashFiles, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// 'halogrid results' shows and fetches the files of a job, on the machine that has them and on another one.

const folder = scratchFolder();
const out = join(folder, 'out');
const launcher = fileURLToPath(new URL('../apps/cli/bin/halogrid.mjs', import.meta.url));
let cluster: ServingCluster;
let jobId: string;

/** Arguments before a command so that it sees the output folder as empty. */
const elsewhere = [
  ...['unshare', '--user', '--map-root-user', '--mount', '--', 'sh', '-c'],
  'mount -t tmpfs none "$1" && shift && exec "$@"',
  'sh',
];

before(async () => {
  const sources = [join(folder, 'a b.pgm'), join(folder, 'c%d.pgm')];
  for (const source of sources) await writePgm(source, drawPicture(90, 70));
  cluster = await sharedCluster();
  jobId = (await cluster.jobs.run({ sources, out, map: 'zarr' })).jobId;
});
after(() => cluster?.stop());

test('the summary of a job says where its results are', async () => {
  const { code, stdout, stderr } = await cluster.halogrid(['results', jobId]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, new RegExp(`^Job ${jobId} is complete after .*\\n`));
  assert.match(stdout, new RegExp(`^ +results +${out}/ `, 'm'));
  const asJson = await cluster.halogrid(['results', jobId, '--json']);
  const { digest, seconds } = readJson(out, 'job.json');
  const summary = JSON.parse(asJson.stdout);
  assert.deepEqual([summary.digest, summary.seconds, summary.out], [digest, seconds, out]);
});

test('results are copied on the machine that has them', async () => {
  const copy = join(folder, 'copy');
  const { code, stderr } = await cluster.halogrid(['results', jobId, '--out', copy]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^\d+ files copied from this machine\.$/m);
  assert.deepEqual(hashFiles(copy), hashFiles(out));

  const again = await cluster.halogrid(['results', jobId, '--out', copy]);
  assert.equal(again.code, 2);
  assert.match(again.stderr, /^halogrid: Expected a missing or an empty folder for --out but '.*copy' is not empty$/m);
});

const skip =
  spawnSync(elsewhere[0]!, [...elsewhere.slice(1), '/mnt', 'true']).status === 0
    ? false
    : 'hiding a folder from a process takes user namespaces';

test('results are fetched on a machine without them', { skip }, async () => {
  const [file, ...words] = [...elsewhere, out, process.execPath, launcher, 'results', jobId];
  const run = (...more: string[]) => promisify(execFile)(file!, [...words, '--coordinator', cluster.address, ...more]);
  const shown = await run();
  assert.match(
    shown.stderr,
    /^The results are not on this machine, or cannot be read; '--out DIR' copies them from the coordinator\.$/m,
  );
  assert.match(shown.stdout, new RegExp(`^Job ${jobId} is complete`));

  const http = cluster.http.replace('http://', '');
  const fetched = join(folder, 'fetched');
  const { stdout, stderr } = await run('--out', fetched, '--http', `127.0.0.1:1,${http}`, '--json');
  assert.match(stderr, /^\d+ files copied from the coordinator\.$/m);
  assert.deepEqual(hashFiles(fetched), hashFiles(out));
  assert.equal(JSON.parse(stdout).digest, readJson(out, 'job.json').digest);

  const nowhere = join(folder, 'nowhere');
  await assert.rejects(
    run('--out', nowhere, '--http', '127.0.0.1:1'),
    /No coordinator answers over HTTP at 127\.0\.0\.1:1/,
  );
  assert.equal(existsSync(nowhere), false);
  assert.deepEqual(
    readdirSync(folder).filter((name) => name.startsWith('nowhere')),
    [],
  );
});

test('an unknown job has no results', async () => {
  const { code, stderr } = await cluster.halogrid(['results', 'nobody', '--out', join(folder, 'nothing')]);
  assert.equal(code, 2);
  assert.match(stderr, /^halogrid: There is no job 'nobody'; .*\n$/);
  assert.equal(existsSync(join(folder, 'nothing')), false);
});
