import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startServer, type TestServer } from '@halogrid/sources/testing-servers';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { Cluster } from './cluster.ts';
import { readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// A secret in a URI is used and never shown.

const folder = scratchFolder();
const out = join(folder, 'out');
const secret = randomBytes(12).toString('hex');
let web: TestServer;
let cluster: Cluster;

/** Serves images to requests that contain the secret. */
before(async () => {
  web = await startServer((request, response) => {
    if (!request.url!.includes(secret)) return void response.writeHead(403).end();
    if (request.url!.startsWith('/good')) return void response.end('P5\n9 7\n255\n'.padEnd(11 + 63, 'x'));
    if (request.url!.startsWith('/torn')) return void response.end('P5\n9 7\n255\nabc');
    if (request.url!.startsWith('/away'))
      return void response.writeHead(302, { location: `http://other/${secret}` }).end();
    response.writeHead(404).end(secret);
  });
  cluster = await Cluster.start();
});

after(async () => {
  await cluster.stop();
  await web.close();
});

test('a random secret in any part of a source appears in no output, log, metric, answer or command line', async () => {
  const host = web.origin.slice('http://'.length);
  const lines = [
    `${web.origin}/good.pgm?X-Amz-Signature=${secret}`,
    `${web.origin}/good.pgm?X-Amz-Signature=${secret}&n=2#${secret}`,
    `${web.origin}/torn.pgm?${secret}`,
    `${web.origin}/away.pgm?${secret}`,
    `${web.origin}/none.pgm?a=${secret}`,
    `http://me:${secret}@${host}/good.pgm`,
    `http://${secret}@${host}/good.pgm`,
    `ftp://me:${secret}@${host}/good.pgm?${secret}`,
    `http://no host/?${secret}`,
    `s3://B/?${secret}`,
  ];
  const manifest = join(folder, 'list.txt');
  writeFileSync(manifest, lines.join('\n'));
  const named = `${web.origin}/good.pgm?X-Amz-Signature=${secret}&named`;
  // The user's own command line shows the option, but processes that it starts must not repeat it.
  const run = () => cluster.halogrid(['run', named, manifest, '--out', out, '--json']);
  const first = await run();
  assert.equal(first.code, 3, first.stderr);
  const job = readJson(out, 'job.json');
  assert.deepEqual([job.counts.frames, job.counts.quarantined], [3, 8]);
  assert.match(job.specification.sources[0], /\/good\.pgm\?redacted-[0-9a-f]{8}$/);
  // URIs that differ in user name or password are shown as the same; URIs that differ in their query are not.
  assert.equal(new Set(job.sources.map(({ uri }: { uri: string }) => uri)).size, lines.length);

  const shown: Record<string, string> = { stdout: first.stdout, stderr: first.stderr };
  for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    shown[`name ${path}`] = path;
    if (entry.isFile()) shown[path] = readFileSync(path, 'latin1');
  }
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(join(out, 'features.parquet')) });
  shown.features = rows.map(({ source }) => source).join();
  assert.match(shown.features, /redacted/);
  for (const url of [`${cluster.http}/metrics`, `${cluster.http}/api/v1/jobs`, `${cluster.nodes[0]!.http}/metrics`]) {
    shown[url] = await (await fetch(url)).text();
  }
  shown.status = (await cluster.halogrid(['status', job.id, '--json'])).stdout;
  for (const pid of [...cluster.coordinator.pidsOf('coordinator'), cluster.nodes[0]!.pid]) {
    shown[`arguments of ${pid}`] = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  }
  for (const [where, text] of Object.entries(shown)) assert.ok(!text.includes(secret), `${where}: ${text}`);

  const other = await cluster.halogrid(['run', named.replace('named', 'else'), manifest, '--out', out]);
  assert.equal(other.code, 2);
  assert.match(other.stderr, /holds the results of another job/);
  assert.ok(!other.stderr.includes(secret));
  assert.equal((await run()).code, 3, 'the same command again is the same job');

  const refused = await cluster.halogrid(['submit', `${web.origin}/none.pgm?${secret}`, '--out', join(folder, 'none')]);
  assert.equal(refused.code, 2);
  assert.ok(!refused.stderr.includes(secret), refused.stderr);
});

test('the logs of the coordinator and its node hold no secret', async () => {
  const [node] = cluster.nodes;
  const programs = [node!.program, cluster.coordinator];
  await cluster.stop();
  for (const program of programs) {
    const { stdout, stderr } = await program.ended;
    assert.ok(!`${stdout}${stderr}`.includes(secret), stderr);
  }
});
