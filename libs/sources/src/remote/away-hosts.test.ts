import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AwayHost, AwayHosts } from './away-hosts.ts';
import type { RemoteTarget } from './remote-target.ts';
import { TransferError } from './transfer-error.ts';
import type { TransferFailure, TransferFault } from './transfer-fault.ts';

const refused: TransferFailure = { code: 'ECONNREFUSED' };

const targetOf = (uri: string): RemoteTarget => ({
  uri,
  place: /^\w+:\/\/[^/]*/.exec(uri)![0],
  followsRedirects: true,
  request: () => Promise.reject(new Error('Nobody asks')),
  explain: async () => '',
});

/** Hosts on a clock that advances when all requests wait. The test says at every moment how each URI fails. */
function createStage(failureOf: (uri: string, nowMs: number) => TransferFailure | undefined, graceMs = 600_000) {
  let nowMs = 0;
  const pauses: { untilMs: number; resolve: () => void }[] = [];
  const told: (AwayHost | undefined)[] = [];
  const asked: [nowMs: number, uri: string][] = [];
  const hosts = new AwayHosts({
    graceMs,
    nowMs: () => nowMs,
    pause: (ms) => new Promise((resolve) => pauses.push({ untilMs: nowMs + ms, resolve })),
    tell: (away) => told.push(away),
    giveUp: ({ place, reason }) => new Error(`${place} is given up: ${reason}`),
  });
  const look = async (other: RemoteTarget): Promise<TransferFault | undefined> => {
    const failure = failureOf(other.uri, nowMs);
    return failure && new TransferError('No', failure).fault;
  };
  /** As tryToGet, but resolves with how the request ended. */
  const get = async (uri: string): Promise<string> => {
    const target = targetOf(uri);
    for (;;) {
      await undefined;
      asked.push([nowMs, uri]);
      const failure = failureOf(uri, nowMs);
      if (!failure) {
        hosts.answered(target, true);
        return 'had';
      }
      const error = new TransferError('No', failure);
      if (error.fault === 'access') {
        hosts.answered(target, false);
        return 'missing';
      }
      if (!(await hosts.outlasts(target, error, look))) return 'at fault';
    }
  };
  /** Lets time pass until these requests have ended. */
  const run = async (...uris: string[]): Promise<string[]> => {
    let isOver = false;
    const all = Promise.all(uris.map((uri) => get(uri).catch((error: Error) => error.message)));
    void all.then(() => {
      isOver = true;
    });
    while (!isOver) {
      await new Promise((resolve) => setImmediate(resolve));
      if (isOver || pauses.length === 0) continue;
      nowMs = Math.min(...pauses.map(({ untilMs }) => untilMs));
      for (const due of pauses.filter(({ untilMs }) => untilMs <= nowMs)) {
        pauses.splice(pauses.indexOf(due), 1);
        due.resolve();
      }
    }
    return all;
  };
  return { run, told, asked, nowMs: () => nowMs };
}

const uris = (count: number, host = 'http://a'): string[] => Array.from({ length: count }, (_, i) => `${host}/${i}`);
const had = (count: number): string[] => Array.from({ length: count }, () => 'had');

test('requests wait for a host that is away, two of them ask after longer and longer pauses, and it is reported', async () => {
  const { run, told, asked, nowMs } = createStage((_, now) => (now < 60_000 ? refused : undefined));
  assert.deepEqual(await run(...uris(100)), had(100));
  assert.deepEqual(
    told.map((away) => away?.place),
    ['http://a', undefined],
  );
  assert.match(told[0]!.reason, /^No \(http:\/\/a\/\d+\)$/);
  assert.ok(nowMs() >= 60_000 && nowMs() < 95_000, `${nowMs()} ms`);
  // All requests once, two after each of six pauses, and all once more.
  assert.ok(asked.length <= 100 + 2 * 7 + 100, `${asked.length} requests`);
});

test('one failure is not reported, and another host is not waited for', async () => {
  const { run, told, nowMs } = createStage((uri, now) =>
    uri.startsWith('http://a') && now < 500 ? refused : undefined,
  );
  assert.deepEqual(await run('http://a/1', 'http://b/1'), had(2));
  assert.deepEqual([told, nowMs()], [[], 1000]);
});

test('a host that stays away is given up after that time, for all who wait', async () => {
  const { run, nowMs } = createStage(() => refused, 300_000);
  const ends = await run(...uris(20));
  for (const end of ends) assert.match(end, /^http:\/\/a is given up: No \(http:\/\/a\/\d+\)$/);
  assert.equal(nowMs(), 300_000);
});

test('without patience two requests are enough', async () => {
  const { run, asked, nowMs } = createStage(() => refused, 0);
  assert.match((await run('http://a/1'))[0]!, /given up/);
  assert.deepEqual([asked.length, nowMs()], [2, 1000]);
});

test('a file that fails while others of its host come is at fault itself', async () => {
  for (const failure of [{ status: 500 }, 'late', 'cut'] as const) {
    const { run, told } = createStage((uri) => (uri.endsWith('/bad') ? failure : undefined));
    assert.deepEqual(await run('http://a/good', 'http://a/bad'), ['had', 'at fault']);
    assert.deepEqual(told, []);
  }
});

test('a missing file shows that its host is there', async () => {
  const { run, told } = createStage((_, now) => (now < 3000 ? { status: 503 } : { status: 404 }));
  assert.deepEqual(await run(...uris(5)), ['missing', 'missing', 'missing', 'missing', 'missing']);
  assert.equal(told.at(-1), undefined);
});

test('a refused file is at fault if others of its host come, and if it is the only one', async () => {
  const { run } = createStage((uri) => (uri.endsWith('/secret') ? { status: 403 } : undefined));
  assert.deepEqual(await run('http://a/good', 'http://a/secret', 'http://b/secret'), ['had', 'at fault', 'at fault']);
});

test('a host that suddenly refuses files, even those it has sent before, is waited for', async () => {
  let requests = 0;
  const { run, told, nowMs } = createStage((_, now) =>
    requests++ === 0 || now >= 20_000 ? undefined : { status: 403 },
  );
  assert.deepEqual(await run('s3://a/1'), ['had']);
  assert.deepEqual(await run('s3://a/2', 's3://a/3'), ['had', 'had']);
  assert.deepEqual([told.length, nowMs() >= 20_000], [2, true]);
});
