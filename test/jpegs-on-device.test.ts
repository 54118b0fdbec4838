import assert from 'node:assert/strict';
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { command } from './command.ts';
import type { Ended } from './halogrid.ts';
import { readHistogram, readJson } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

// A job gives the same results wherever its JPEGs are decoded, for all kinds of JPEGs and damaged ones.

const folder = scratchFolder();
const source = join(folder, 'frames');

/** Makes more than a hundred files. Twenty of them get a preview, for which CPU cores decode. */
function putFrames(): void {
  mkdirSync(source, { recursive: true });
  const fixtures = globSync(fileURLToPath(new URL('../libs/imaging/{fixtures,mended-jpegs}/*.jpg', import.meta.url)));
  for (let copy = 0; copy < 5; copy++) {
    for (const path of fixtures) copyFileSync(path, join(source, `${copy}-${basename(path)}`));
    const whole = readFileSync(fixtures.find((path) => path.endsWith('420.jpg'))!);
    writeFileSync(join(source, `${copy}-cut.jpg`), whole.subarray(0, whole.length >> 1));
  }
}

/** The expected counts for five copies of each file with bytes that hold no pixel, by the place of these bytes. */
const expectedMended = [
  ['between segments', 4, '0-application-longer'],
  ['behind the last pixel', 3, '0-text-behind'],
  ['in front of restart markers', 2, '0-before-restarts-mjpeg'],
  ['between segments and in front of restart markers and behind the last pixel', 1, '0-all'],
  ['between segments and behind the last pixel', 1, '0-between-scans'],
].map(([where, files, example]) => ({
  mended: `JPEG bytes that hold no pixel were passed over ${where}`,
  inputs: 5 * Number(files),
  example: pathToFileURL(join(source, `${example}.jpg`)).href,
}));

const job = (out: string): string[] => ['run', source, '--tile', '4096', '--out', out];

function outcomeOf(out: string, { code, stderr }: Ended): object {
  assert.equal(code, 3, stderr);
  const errors = readFileSync(join(out, 'errors.jsonl'), 'utf8').trim().split('\n').toSorted();
  const { digest, mended } = readJson(out, 'job.json');
  assert.deepEqual(mended, expectedMended);
  return { digest, histogram: readHistogram(out), errors };
}

test('run --decode gpu gives the same as cores: the digest, every bin and every sentence', async (t) => {
  putFrames();
  const [cores, device] = [join(folder, 'cores'), join(folder, 'device')];
  const cluster = await sharedCluster();
  t.after(() => cluster.stop());
  const onCores = outcomeOf(cores, await cluster.halogrid(job(cores)));
  const onDevice = await command([...job(device), '--device', 'software', '--decode', 'gpu']);
  assert.deepEqual(outcomeOf(device, onDevice), onCores);
});
