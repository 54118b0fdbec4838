import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { Child, Ending } from './child.ts';
import { superviseNodes } from './supervise-nodes.ts';

/** A process that serves and ends when the test says so. */
class ScriptedChild implements Child {
  static #lastPid = 100;
  readonly pid = ++ScriptedChild.#lastPid;
  readonly #ready = Promise.withResolvers<Record<string, unknown> | undefined>();
  readonly #ended = Promise.withResolvers<Ending>();
  readonly ready = this.#ready.promise;
  readonly ended = this.#ended.promise;
  isDraining = false;
  tell = () => {};
  logTail = () => ['info It opens its device', 'halogrid: There is no such device'];
  drain = () => {
    this.isDraining = true;
  };
  stop = async () => this.end({ signal: 'SIGTERM' });
  serve = () => this.#ready.resolve({ http: this.pid });
  end = (ending: Ending) => {
    this.#ready.resolve(undefined);
    this.#ended.resolve(ending);
  };
}

/** Two nodes under supervision. `of` is the latest process of a node. */
function supervise(prove: (pids: number[]) => Promise<void> = async () => {}) {
  const started: Record<string, ScriptedChild[]> = { a: [], b: [] };
  const stop = new AbortController();
  const said = { ready: [] as unknown[], notes: [] as string[], nowMs: 0 };
  const code = superviseNodes({
    nodes: [{ name: 'a' }, { name: 'b' }],
    start: ({ name }) => {
      started[name]!.push(new ScriptedChild());
      return started[name]!.at(-1)!;
    },
    prove: (running) => prove(running.map(({ pid }) => pid)),
    onReady: (reports) => said.ready.push(...reports),
    note: (line) => said.notes.push(line),
    signal: stop.signal,
    nowMs: () => said.nowMs,
  });
  code.catch(() => {});
  return { code, stop, said, started, of: (name: string) => started[name]!.at(-1)! };
}

async function supervised(prove?: (pids: number[]) => Promise<void>) {
  const scene = supervise(prove);
  for (const name of ['a', 'b']) scene.of(name).serve();
  await turn();
  return scene;
}

test('nodes are ready together, once all are proven', async () => {
  const proof = Promise.withResolvers<void>();
  const proven: number[][] = [];
  const { said, of } = await supervised((pids) => {
    proven.push(pids);
    return proof.promise;
  });
  assert.deepEqual([said.ready, proven], [[], [[of('a').pid, of('b').pid]]]);
  proof.resolve();
  await turn();
  assert.deepEqual(said.ready, [{ http: of('a').pid }, { http: of('b').pid }]);
});

test('nodes that fail their proof are stopped', async () => {
  const { code, of, said } = await supervised(() => Promise.reject(new Error('Both are on one GPU')));
  await assert.rejects(code, /Both are on one GPU/);
  assert.deepEqual([await of('a').ended, await of('b').ended], [{ signal: 'SIGTERM' }, { signal: 'SIGTERM' }]);
  assert.deepEqual(said.ready, []);
});

test('if one node cannot start, all are stopped', async () => {
  const { code, of } = supervise();
  of('a').serve();
  of('b').end({ code: 2 });
  await assert.rejects(code, /There is no such device/);
  assert.deepEqual(await of('a').ended, { signal: 'SIGTERM' });
});

test('a node that dies is restarted and proven again, until it has died too often', async () => {
  const proven: number[][] = [];
  const { started, said, of, code } = await supervised(async (pids) => void proven.push(pids));
  for (let deaths = 1; deaths <= 3; deaths++) {
    of('a').end({ signal: 'SIGKILL' });
    await turn();
    assert.equal(started.a!.length, deaths + 1);
    of('a').serve();
    await turn();
    assert.deepEqual(proven.at(-1)!.toSorted(), [of('b').pid, of('a').pid].toSorted());
  }
  of('a').end({ code: 1 });
  await turn();
  assert.equal(started.a!.length, 4);
  assert.match(said.notes.at(-1)!, /^Node a ended with exit code 1 and is not restarted\.$/);
  of('b').end({ code: 0 });
  assert.equal(await code, 1);
});

test('a node that ran for a long time is restarted, however often it died before', async () => {
  const { started, said, of } = await supervised();
  for (let deaths = 1; deaths <= 5; deaths++) {
    said.nowMs += 11 * 60_000;
    of('b').end({ signal: 'SIGSEGV' });
    await turn();
    assert.equal(started.b!.length, deaths + 1);
    of('b').serve();
    await turn();
  }
});

test('a restarted node on the wrong card is stopped, and the other node continues', async () => {
  let count = 0;
  const { said, of, started } = await supervised(async () => {
    if (++count > 1) throw new Error('Two are on one GPU');
  });
  of('a').end({ code: 1 });
  await turn();
  of('a').serve();
  await turn();
  assert.ok(said.notes.includes('Node a is stopped: Two are on one GPU'));
  assert.deepEqual(await started.a![1]!.ended, { signal: 'SIGTERM' });
  assert.equal(started.b!.length, 1);
});

test('a signal lets every node finish, and nothing is restarted', async () => {
  const { stop, of, started, code } = await supervised();
  stop.abort('SIGTERM');
  await turn();
  assert.deepEqual([of('a').isDraining, of('b').isDraining], [true, true]);
  of('a').end({ code: 0 });
  // It was asked to end before it handled signals.
  of('b').end({ signal: 'SIGTERM' });
  assert.equal(await code, 0);
  assert.deepEqual([started.a!.length, started.b!.length], [1, 1]);
});

const ends: [codes: [number, number], code: number][] = [
  [[0, 75], 75],
  [[75, 75], 75],
];
for (const [codes, expected] of ends) {
  test(`nodes that end with ${codes} are not restarted, and end the command with ${expected}`, async () => {
    const { of, started, code } = await supervised();
    for (const [i, name] of ['a', 'b'].entries()) of(name).end({ code: codes[i]! });
    assert.equal(await code, expected);
    assert.equal(started.a!.length, 1);
  });
}

test('a signal while nodes start ends them', async () => {
  const { stop, of, code } = supervise();
  of('a').serve();
  stop.abort('SIGINT');
  await turn();
  for (const name of ['a', 'b']) of(name).end({ code: name === 'a' ? 0 : 1 });
  assert.equal(await code, 1);
});

test('nodes that end in order are not restarted', async () => {
  const { of, code, started } = await supervised();
  for (const name of ['a', 'b']) of(name).end({ code: 0 });
  assert.equal(await code, 0);
  assert.equal(started.a!.length, 1);
});
