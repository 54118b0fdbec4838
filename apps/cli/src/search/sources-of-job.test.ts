import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { sourcesOfJob } from './sources-of-job.ts';

test('the sources of a job are read from its job.json, or from the file that job.json names', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'halogrid-sources-'));
  t.after(() => rm(folder, { recursive: true }));
  const sources = ['a', 'b'].map((name) => ({ uri: `file:///${name}.png`, width: 3, height: 2 }));
  await writeFile(join(folder, 'job.json'), JSON.stringify({ sources }));
  assert.deepEqual(await sourcesOfJob(folder), sources);

  const lines = [{ halogrid: '1.0.0', file: 'sources' }, ...sources].map((line) => `${JSON.stringify(line)}\n`);
  await writeFile(join(folder, 'sources.jsonl'), lines.join(''));
  await writeFile(join(folder, 'job.json'), JSON.stringify({ sources: { file: 'sources.jsonl', entries: 2 } }));
  assert.deepEqual(await sourcesOfJob(folder), sources);
});
