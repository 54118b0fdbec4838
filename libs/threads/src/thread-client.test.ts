import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { LateThread } from './late-thread.ts';
import { sayEnd, ThreadClient } from './thread-client.ts';

/** An order for the thread: wait until another number was answered, then double, fail, or end. */
type Order = { after?: number; number?: number; bytes?: Uint8Array; fail?: string; exit?: number; crash?: string };

const program = `
  import { serveOrders } from '${new URL('./serve-orders.ts', import.meta.url).href}';
  const answered = new Map();
  const answer = (number) => answered.get(number) ?? answered.set(number, Promise.withResolvers()).get(number);
  serveOrders(
    async ({ after, number = 0, bytes, fail, exit, crash }) => {
      if (after !== undefined) await answer(after).promise;
      if (fail) throw Object.assign(new Error(fail), { code: 7 });
      if (exit !== undefined) process.exit(exit);
      if (crash) setImmediate(() => { throw new Error(crash); });
      if (crash) await new Promise(() => {});
      answer(number).resolve();
      return bytes ?? 2 * number;
    },
    { moved: (answer) => (answer.buffer ? [answer.buffer] : []), pack: ({ message, code }) => ({ message, code }) },
  );`;

/** A number that the thread is never sent. */
const never = -1;

const programUrl = `data:text/javascript,${encodeURIComponent(program)}`;

function startClient(t: TestContext): ThreadClient<Order, number | Uint8Array> {
  const worker = new Worker(new URL(programUrl));
  t.after(() => worker.terminate());
  return new ThreadClient(worker, {
    ended: (end) => new Error(`The thread has ended: ${sayEnd(end)}`),
    unpack: (failure) => {
      const { message, code } = failure as { message: string; code: number };
      return new Error(`${message}, ${code}`);
    },
  });
}

test('each order has its own answer, whichever is ready first', async (t) => {
  const client = startClient(t);
  const answers = [2, undefined, 1].map((after, number) => client.order({ number, after }));
  assert.deepEqual(await Promise.all(answers), [0, 2, 4]);
  await assert.rejects(client.order({ fail: 'no' }), { message: 'no, 7' });
  assert.equal(await client.order({ number: 21 }), 42);
});

test('memory is moved both ways', async (t) => {
  const client = startClient(t);
  const bytes = new Uint8Array([1, 2, 3]);
  const answer = client.order({ bytes }, [bytes.buffer]);
  assert.deepEqual(await answer, new Uint8Array([1, 2, 3]));
  assert.equal(bytes.length, 0);
});

for (const [order, why] of [
  [{ exit: 3 }, 'it exited with 3'],
  [{ crash: 'out of luck' }, 'out of luck'],
] as const) {
  test(`when ${why}, orders without an answer and all later ones reject with that`, async (t) => {
    const client = startClient(t);
    const ended = { message: `The thread has ended: ${why}` };
    const waiting = client.order({ after: never });
    const last = client.order(order);
    await assert.rejects(waiting, ended);
    await assert.rejects(last, ended);
    assert.ok(client.hasEnded);
    assert.equal((await client.whenEnded).message, ended.message);
    await assert.rejects(client.order({}), ended);
    await client.end();
  });
}

test('a thread that is released serves the next client, and is ended by it', async (t) => {
  const first = startClient(t);
  assert.equal(await first.order({ number: 1 }), 2);
  const next = new ThreadClient<Order, number>(first.release(), { ended: (end) => new Error(sayEnd(end)) });
  await assert.rejects(first.order({ number: 1 }), { message: 'The thread serves others' });
  assert.equal(await next.order({ number: 2 }), 4);
  await next.end();
  await assert.rejects(next.order({}), { message: 'it exited with 0' });
});

test('terminate ends a thread in the middle of its work', async (t) => {
  const client = startClient(t);
  await client.order({});
  const waiting = assert.rejects(client.order({ after: never }), { message: 'The thread has ended: it exited with 1' });
  await client.terminate();
  await waiting;
});

for (const how of ['end', 'terminate'] as const) {
  test(`a process stays until ${how} is done, though the last answer comes meanwhile`, async () => {
    const script = `
      import { Worker } from 'node:worker_threads';
      import { ThreadClient } from '${new URL('./thread-client.ts', import.meta.url).href}';
      const client = new ThreadClient(new Worker(new URL(${JSON.stringify(programUrl)})), { ended: () => new Error() });
      await client.order({});
      const answered = client.order({}).catch(() => {});
      await new Promise(setImmediate);
      // The answer has arrived, but is only handled in a later turn.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      const ended = client.${how}();
      await answered;
      await ended;
      console.log('ended');`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
    assert.equal(stdout, 'ended\n');
  });
}

test('a late thread starts when it is needed, and again after it has ended', async (t) => {
  let started = 0;
  const thread = new LateThread(() => {
    started++;
    return startClient(t);
  });
  await thread.end();
  assert.equal(started, 0);
  const first = thread.client;
  assert.equal(await first.order({ number: 1 }), 2);
  assert.equal(thread.client, first);
  await assert.rejects(first.order({ exit: 3 }), { message: 'The thread has ended: it exited with 3' });
  assert.equal(await thread.client.order({ number: 2 }), 4);
  assert.equal(started, 2);
  await thread.end();
});
