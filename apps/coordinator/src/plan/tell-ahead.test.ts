import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PreviewChoice } from '@halogrid/jobs/preview-choice';
import type { Source } from '@halogrid/sources';
import { tellAhead } from './tell-ahead.ts';

const sourceOf = (uri: string, named = false): Source => ({ uri, name: uri.split('/').at(-1)!, sizeBytes: 1, named });
const frames = (count: number): Source[] =>
  Array.from({ length: count }, (_, i) => sourceOf(`file:///in/${String(i).padStart(6, '0')}.pgm`));

async function* listing(sources: readonly Source[]): AsyncGenerator<Source[]> {
  for (let i = 0; i < sources.length; i += 64) yield sources.slice(i, i + 64);
}

async function* singly(chunks: AsyncIterable<readonly Source[]>): AsyncGenerator<Source> {
  for await (const sources of chunks) yield* sources;
}

/** The sources that are chosen as they come, and in the end. */
async function chosenOf(listed: AsyncIterable<Source>, previews: PreviewChoice) {
  const asTheyCome: number[] = [];
  let index = 0;
  for await (const { uri } of listed) {
    if (previews.add(index, { uri })) asTheyCome.push(index);
    index++;
  }
  return { asTheyCome, atLast: [...previews.chosen].sort((a, b) => a - b) };
}

test('few sources of a folder are chosen only for a time, and the final choice is the same', async () => {
  const plain = await chosenOf(singly(listing(frames(3000))), new PreviewChoice());
  const previews = new PreviewChoice();
  const ahead = await chosenOf(singly(tellAhead(listing(frames(3000)), previews)), previews);
  assert.deepEqual(ahead.atLast, plain.atLast);
  assert.ok(ahead.asTheyCome.length < plain.asTheyCome.length / 2, `${ahead.asTheyCome.length}`);

  const all = new PreviewChoice();
  const known = await chosenOf(singly(tellAhead(listing(frames(1000)), all)), all);
  assert.deepEqual(known.asTheyCome, known.atLast);
  assert.equal(known.atLast.length, 20);
});

test('files that may be videos are not announced, and files on servers are not waited for', async () => {
  const told: string[] = [];
  const previews = { expect: ({ uri }: { uri: string }) => void told.push(uri) };
  const sources = [
    sourceOf('file:///in/a.pgm'),
    sourceOf('file:///in/b.mp4'),
    sourceOf('file:///in/c.pgm', true),
    sourceOf('http://server/d.pgm'),
    sourceOf('file:///in/e.pgm'),
  ];
  let pulled = 0;
  async function* list(): AsyncGenerator<Source[]> {
    for (const source of sources) {
      pulled++;
      yield [source];
    }
  }
  const ahead = tellAhead(list(), previews);
  assert.deepEqual([(await ahead.next()).value, pulled], [sources.slice(0, 4), 4]);
  assert.deepEqual(await Array.fromAsync(ahead), [sources.slice(4)]);
  assert.deepEqual(told, ['file:///in/a.pgm', 'file:///in/e.pgm']);
});

test('listed inputs do not wait for a server that does not answer, and an error of the list is thrown in its place', async () => {
  const answered = Promise.withResolvers<void>();
  const [first, second] = [sourceOf('file:///in/a.pgm'), sourceOf('http://server/b.pgm')];
  async function* list(): AsyncGenerator<Source[]> {
    yield [first];
    await answered.promise;
    yield [second];
    throw new Error('The third is gone');
  }
  const ahead = tellAhead(list(), new PreviewChoice());
  assert.deepEqual((await ahead.next()).value, [first]);
  answered.resolve();
  assert.deepEqual((await ahead.next()).value, [second]);
  await assert.rejects(ahead.next(), /^Error: The third is gone$/);
});
