import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InputError } from '../input-error.ts';
import { quickToGiveUp } from './quick-to-give-up.ts';

/** Opens files one after another; a file's name says how it fails. Returns the files that were requested. */
async function openAll(names: readonly string[], host = 'http://a'): Promise<{ asked: string[]; failed: number }> {
  const asked: string[] = [];
  const open = quickToGiveUp(async (uri: string) => {
    const name = uri.slice(uri.lastIndexOf('/') + 1);
    asked.push(name);
    if (name !== 'good') throw new InputError('read', name, { fault: name === 'away' ? 'away' : 'access' });
  });
  let failed = 0;
  for (const name of names) await open(name.includes('//') ? name : `${host}/${name}`).catch(() => failed++);
  return { asked, failed };
}

const times = (count: number, name: string): string[] => Array.from({ length: count }, () => name);

test('after eight files in a row whose host is away, no others of that host are requested', async () => {
  const { asked, failed } = await openAll([...times(100, 'away'), 'http://b/good']);
  assert.deepEqual([asked.length, asked.at(-1), failed], [9, 'good', 100]);
});

test('an answer of the host starts the count again', async () => {
  for (const answer of ['good', 'missing']) {
    const { asked } = await openAll([...times(7, 'away'), answer, ...times(7, 'away'), answer]);
    assert.equal(asked.length, 16);
  }
});
