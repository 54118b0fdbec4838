import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WantError } from '@halogrid/jobs/want-error';
import { type OutputGraces, OutputWait } from './output-wait.ts';

const failing = (code: string): Error => Object.assign(new Error(`${code}: it failed, write`), { code });
const forEver = Number.POSITIVE_INFINITY;

/** A wait whose time passes only in its pauses, on a disk whose room the test decides. */
function stage(graceMs: OutputGraces, freeAt: (nowMs: number) => number | undefined = () => 0) {
  let nowMs = 0;
  const abort = new AbortController();
  const wait = new OutputWait({
    folder: '/out',
    graceMs,
    nowMs: () => nowMs,
    pause: async (ms) => {
      nowMs += ms;
    },
    free: async () => freeAt(nowMs),
    signal: abort.signal,
  });
  return { wait, abort, now: () => nowMs };
}

test('a write to a full disk is repeated once more is free there; meanwhile a sentence says what is missing', async () => {
  const { wait, now } = stage({ room: forEver, folder: 0 }, (nowMs) => (nowMs < 30_000 ? 100 : 200));
  let tries = 0;
  const written = await wait.until(async () => {
    if (++tries === 1) throw failing('ENOSPC');
    return wait.sentence;
  });
  assert.equal(written, "It waits for room in '/out' (200 B free): ENOSPC: it failed, write");
  assert.deepEqual([tries, wait.sentence], [2, undefined]);
  assert.ok(now() >= 30_000 && now() <= 36_000, `${now()}`);
});

test('if the free bytes are unknown, the write is repeated every few seconds; if no more are free, every minute', async () => {
  for (const [free, atLeast, atMost] of [
    [undefined, 100, 200],
    [7, 8, 12],
  ] as const) {
    const { wait, now } = stage({ room: forEver, folder: 0 }, () => free);
    let tries = 0;
    await wait.until(async () => {
      tries++;
      assert.equal(wait.sentence !== undefined, tries > 1);
      if (now() < 600_000) throw failing('EDQUOT');
    });
    assert.ok(tries >= atLeast && tries <= atMost, `${tries} times`);
  }
});

test('each kind of lack has its own limit, after which the job fails with WantError', async () => {
  for (const [code, sentence] of [
    [
      'ENOSPC',
      /^There is no room in '\/out' for 2\d s \(0 B free\): ENOSPC: .*; make room there and run the same command again/,
    ],
    ['ESTALE', /^The output in '\/out' cannot be written: ESTALE: .* \(waited for \d s\);/],
  ] as const) {
    const { wait } = stage({ room: 20_000, folder: 4_000 });
    const given = await wait.until(() => Promise.reject(failing(code))).catch((error: unknown) => error);
    assert.ok(given instanceof WantError);
    assert.match(given.message, sentence);
    assert.equal(wait.sentence, undefined);
  }
  const { wait, now } = stage({ room: 0, folder: forEver });
  await assert.rejects(
    wait.until(() => Promise.reject(failing('ENOSPC'))),
    /^WantError: There is no room in '\/out' \(0 B free\)/,
  );
  assert.equal(now(), 0);
});

test('another error fails at once, and nothing is written any more once the job has ended', async () => {
  const { wait, abort } = stage({ room: forEver, folder: forEver });
  await assert.rejects(
    wait.until(() => Promise.reject(failing('EFBIG'))),
    /EFBIG/,
  );
  let tries = 0;
  const ending = wait.until(async () => {
    if (++tries === 3) abort.abort(new Error('cancelled'));
    throw failing('EIO');
  });
  await assert.rejects(ending, /cancelled/);
  assert.equal(tries, 3);
});

test('a lack that another writer notes is shown as well, until it notes that nothing is lacking', () => {
  const { wait } = stage({ room: forEver, folder: 0 });
  const ledger = {};
  wait.note(ledger, { kind: 'room', error: 'the disk is full' });
  assert.equal(wait.sentence, "It waits for room in '/out': the disk is full");
  wait.note(ledger, undefined);
  assert.equal(wait.sentence, undefined);
  assert.throws(() => wait.note(ledger, { kind: 'folder', error: 'it is away' }), WantError);
});
