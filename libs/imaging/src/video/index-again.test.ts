import assert from 'node:assert/strict';
import { test } from 'node:test';
import { indexAgain } from './index-again.ts';
import type { IndexLine } from './process/index-line.ts';
import { DecoderBrokeError, DecoderHungError } from './video-reader.ts';

const lines: IndexLine[] = [1, 2, 3, 4].map((packet) => ({ kind: 'unreached', packet }));

/** Gives so many lines at each attempt, and then breaks down, unless it has given all. */
function breakingAfter(counts: readonly number[]): () => AsyncGenerator<IndexLine> {
  let attempt = 0;
  return async function* () {
    const count = counts[attempt++]!;
    yield* lines.slice(0, count);
    if (count < lines.length) throw new DecoderBrokeError('it was ended by SIGSEGV');
  };
}

test('what an index gave before its process broke down is given once', async () => {
  for (const first of [0, 2, 4]) {
    assert.deepEqual(await Array.fromAsync(indexAgain(breakingAfter([first, 4]))), lines);
  }
});

test('a process that breaks down twice makes the video one that cannot be decoded', async () => {
  await assert.rejects(Array.fromAsync(indexAgain(breakingAfter([2, 3]))), {
    name: 'InputError',
    stage: 'decode',
    message: 'The decoder broke down: it was ended by SIGSEGV (2 attempts)',
  });
});

test('a process that hangs twice does so too', async () => {
  const hanging = async function* (): AsyncGenerator<IndexLine> {
    yield lines[0]!;
    throw new DecoderHungError(1000);
  };
  await assert.rejects(Array.fromAsync(indexAgain(hanging)), {
    name: 'InputError',
    message: 'The decoder gave nothing for 1 s and was ended (2 attempts)',
  });
});

test('another failure is not tried again', async () => {
  let attempts = 0;
  const failing = indexAgain(() => {
    attempts++;
    throw new Error('No such program');
  });
  await assert.rejects(Array.fromAsync(failing), { name: 'Error', message: 'No such program' });
  assert.equal(attempts, 1);
});
