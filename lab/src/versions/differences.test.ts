import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { scratchFolder } from '../../../test/scratch-folder.ts';
import { differences } from './differences.ts';

const folder = scratchFolder();

function writeOutput(name: string, files: Record<string, string>): string {
  const out = join(folder, name);
  mkdirSync(join(out, 'maps'), { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(out, file), text);
  return out;
}

const job = (digest: string, of: object) => JSON.stringify({ digest, counts: { frames: 2, attempts: 3 }, ...of });

test('outputs are the same if only fields of the run differ', async () => {
  const was = writeOutput('was', {
    'job.json': job('d1', { id: 'a', wallSeconds: 1, specification: { out: 'file:///was' } }),
    'errors.jsonl': '{"uri":"a","attempts":1}\n',
  });
  const is = writeOutput('is', {
    'job.json': job('d1', {
      id: 'b',
      nodes: [],
      specification: { out: 'file:///is' },
      counts: { frames: 2, attempts: 7 },
    }),
    'errors.jsonl': '{"uri":"a","attempts":2}\n',
  });
  assert.deepEqual(await differences(was, is), []);
});

test('every difference of the outcome is named with its place', async () => {
  const was = writeOutput('one', {
    'job.json': job('d1', {}),
    'errors.jsonl': '{"uri":"a"}\n{"uri":"b"}\n',
    'maps/a.tif': 'abc',
    'gone.svg': '',
  });
  const is = writeOutput('other', {
    'job.json': job('d2', {}),
    'errors.jsonl': '{"uri":"a"}\n{"uri":"c"}\n',
    'maps/a.tif': 'abd',
    'new.svg': '',
  });
  assert.deepEqual(await differences(was, is), [
    'gone.svg: only before',
    'new.svg: only after',
    'errors.jsonl: 2: {"uri":"b"} | {"uri":"c"}',
    'job.json: 2:  "digest": "d1", |  "digest": "d2",',
    'maps/a.tif: 3 and 3 bytes, other from byte 2',
  ]);
});
