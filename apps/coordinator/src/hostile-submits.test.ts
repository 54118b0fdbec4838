import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { checkSources } from '@halogrid/jobs/check-sources';
import { Refusal } from '@halogrid/jobs/refusal';
import { JobSpec, maxMessageBytes, SubmitRequest } from '@halogrid/proto';
import { pause, threadMs, within } from '@halogrid/testing';
import { setStage, specOf, testConfig, writeImages } from './testing/coordinator-stage.ts';

/**
 * How many milliseconds this thread takes to decode the largest message, the longest of three times: a coordinator
 * decodes on the thread that serves. Measured before any test decodes, because code that has run often is several times
 * as fast.
 */
const readingMs = measureReading();

function measureReading(): number {
  const uri = `file:///${'x'.repeat(maxMessageBytes / 65_536 - 20)}`;
  const spec = JobSpec.fromPartial({ sources: Array(65_536).fill(uri) });
  const message = SubmitRequest.encode({ spec, nameOutByJob: false }).finish();
  const times = [1, 2, 3].map(() => {
    const start = process.threadCpuUsage();
    SubmitRequest.decode(message);
    return threadMs(start);
  });
  return Math.max(...times);
}

/** Sources of hostile specifications, each with its expected answer. */
async function hostileSources(folder: string): Promise<[sources: string[], outcome: RegExp][]> {
  const [image] = await writeImages(folder, 1);
  const crowd = join(folder, 'crowd');
  await mkdir(crowd);
  const names = Array.from({ length: 600 }, (_, i) => (i < 8 ? `${'a'.repeat(240)}${i}.txt` : `${i}.txt`));
  await Promise.all(names.map((name) => writeFile(join(crowd, name), '')));
  await writeFile(join(folder, 'one-line.txt'), 'x'.repeat(20 * 2 ** 20));
  const at = (path: string): string => `${pathToFileURL(folder).href}/${path}`;
  const every = <Value>(length: number, of: (i: number) => Value): Value[] => Array.from({ length }, (_, i) => of(i));
  return [
    [[image!], /^accepted$/],
    [[at('crowd/*a*a*a*a*b.jpg')], /^No file matches/],
    [[at(`crowd/${'*a'.repeat(2000)}b`)], /^No file matches/],
    [[at('crowd/{1..10000}b')], /^No file matches/],
    [[at('crowd/*{1..4000}')], /^No file matches/],
    [[at('crowd/*aaaa{1..3000}b')], /^No file matches/],
    [[at(`${'**/'.repeat(2000)}x*y`)], /^No file matches/],
    [
      [at(`crowd/*{1..10000}${'a'.repeat(20)}*`)],
      / is not a glob: Expected at most 32768 characters in the alternatives/,
    ],
    [[at('{'.repeat(8000))], /^No file matches/],
    [[at(`${'{'.repeat(4000)}${'}'.repeat(4000)}`)], /^No file matches/],
    [[at(`${'{,'.repeat(2700)}${'}'.repeat(2700)}`)], /^No file matches/],
    [[at('{a,b}'.repeat(1600))], /at most 10000 alternatives/],
    [
      every(65_536, (i) => at(`*{1..${1000 + (i % 9000)}}x`)),
      /^Expected at most 8388608 for the characters of all alternatives/,
    ],
    [every(65_536, () => image!), /^accepted$/],
    [every(4_096, (i) => at(`${'x/../'.repeat(100 + (i % 50))}image-*${'?'.repeat(i % 7)}`)), /^accepted$/],
    [[at('one-line.txt')], /^accepted$/],
  ];
}

/** The longest time, in milliseconds of processor time, for which the event loop is held until `act` has settled. */
async function heldMs(act: () => Promise<unknown>): Promise<number> {
  let mostMs = 0;
  let lastMs = threadMs();
  const look = async (ms: number): Promise<void> => {
    await pause(ms);
    const nowMs = threadMs();
    mostMs = Math.max(mostMs, nowMs - lastMs);
    lastMs = nowMs;
  };
  let isOver = false;
  const acting = act().finally(() => {
    isOver = true;
  });
  while (!isOver) await look(5);
  await acting;
  // Includes work right after the answer, such as the beginning of a plan.
  await look(50);
  return mostMs;
}

const ends = (text: string): string => `${text.slice(0, 100)} ... ${text.slice(-100)}`;

/** A client on a thread of its own, so that its work does not hold up this one. */
async function startClient(t: TestContext, port: number): Promise<(given: object) => Promise<string>> {
  const client = new Worker(new URL('./testing/submit-client.ts', import.meta.url), { workerData: { port } });
  t.after(() => client.terminate());
  await within('the client to start', once(client, 'message'));
  return async (spec) => {
    client.postMessage(spec);
    const [answer] = await within('the answer to a submission', once(client, 'message'));
    return answer;
  };
}

test('no submission holds a coordinator up, whatever its sources are', async (t) => {
  const { coordinator, folder } = await setStage(t, testConfig({}, true));
  const client = await startClient(t, coordinator.grpcPort);
  const mostMs = 10 * readingMs;
  for (const [i, [sources, outcome]] of (await hostileSources(folder)).entries()) {
    // A collection of a large heap may fall into one attempt, but not into each.
    let shortest = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < 3 && shortest >= mostMs; attempt++) {
      let answer = '';
      const longest = await heldMs(async () => {
        answer = await client(specOf(join(folder, `job-${i}-${attempt}`), sources));
      });
      shortest = Math.min(shortest, longest);
      assert.ok(outcome.test(answer), `submission ${i}: ${ends(answer)}`);
    }
    assert.ok(shortest < mostMs, `submission ${i} holds the event loop for ${shortest} ms, not below ${mostMs} ms`);
  }
});

test('if sources are checked on the thread that serves, other calls have their turns', async (t) => {
  const { folder } = await setStage(t);
  for (const [i, [sources, outcome]] of (await hostileSources(folder)).entries()) {
    let turns = 1;
    let isOver = false;
    const count = (): void => {
      turns++;
      if (!isOver) setImmediate(count);
    };
    setImmediate(count);
    const start = process.threadCpuUsage();
    const answer = await checkSources(sources).then(
      () => 'accepted',
      (error) => {
        assert.ok(error instanceof Refusal);
        return error.message;
      },
    );
    isOver = true;
    assert.ok(outcome.test(answer), `sources ${i}: ${ends(answer)}`);
    const meanMs = threadMs(start) / turns;
    assert.ok(meanMs < readingMs, `the check of sources ${i} holds the event loop for ${meanMs} ms at a time`);
  }
});
