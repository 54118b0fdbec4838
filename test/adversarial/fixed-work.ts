import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Beside } from '@halogrid/testing';

const program = `
  const { parentPort } = require('node:worker_threads');
  parentPort.on('message', () => {
    let sum = 1;
    for (let i = 0; i < 1e6; i++) sum = (Math.imul(sum, 31) + i) | 0;
    parentPort.postMessage(sum);
  });`;

/**
 * A prompt answer takes at most this many times as long as the fixed work. On an idle machine, an answer beside a flood
 * takes ten times as long, and an answer of an event loop that is blocked for a quarter of a second 250 times.
 */
export const promptTimesWork = 50;

let worker: Worker | undefined;

/**
 * Runs a fixed piece of work in a separate thread, about a millisecond of one core on an idle machine. Answers of the
 * coordinator are timed beside it.
 */
export async function fixedWork(): Promise<void> {
  worker ??= new Worker(program, { eval: true });
  worker.unref();
  const done = once(worker, 'message');
  worker.postMessage(undefined);
  await done;
}

const median = (values: number[]): number => values.sort((a, b) => a - b)[values.length >> 1]!;

/** Asserts that half of the answers were prompt, each timed beside the fixed work, and returns how long they took. */
export function assertPrompt(answers: readonly Beside[]): string {
  const answerMs = median(answers.map(({ ms }) => ms));
  const workMs = median(answers.map(({ controlMs }) => controlMs));
  const said = `answers in ${answerMs.toFixed(1)} ms beside work of ${workMs.toFixed(1)}`;
  assert.ok(answerMs < promptTimesWork * workMs, said);
  return said;
}
