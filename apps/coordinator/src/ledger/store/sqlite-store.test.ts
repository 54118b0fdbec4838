import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { ledgerStoreConformance } from './ledger-store-conformance.ts';
import { SqliteStore } from './sqlite-store.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-store-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = () => join(folder, `folder-${files++}`, 'ledger.sqlite');

ledgerStoreConformance('SqliteStore', async () => {
  const path = newPath();
  return () => SqliteStore.open(path);
});

test('what a process wrote before it was killed is there, ten times over', async () => {
  const path = newPath();
  let expected = 0;
  for (let round = 0; round < 10; round++) {
    const writer = fork(new URL('./killed-writer.ts', import.meta.url), [path, String(expected)]);
    let acknowledged = expected;
    const enough = expected + 5 + round * 7;
    writer.on('message', (written) => {
      acknowledged = written as number;
      if (acknowledged >= enough) writer.kill('SIGKILL');
    });
    // What it said last is heard when its channel has ended, which may be after the process has.
    await Promise.all([once(writer, 'exit'), once(writer, 'disconnect')]);
    assert.ok(acknowledged >= enough, `the writer ended itself at ${acknowledged}`);

    const store = await SqliteStore.open(path);
    const entries = await Array.fromAsync(store.entries());
    await store.close();
    // A transaction is a number and its double; one may have been written and not acknowledged.
    expected = entries.length / 2;
    assert.ok(expected === acknowledged || expected === acknowledged + 1, `${expected} after ${acknowledged}`);
    for (let key = 0; key < expected; key++) {
      assert.deepEqual([entries[key]!.key, Buffer.from(entries[key]!.value).readDoubleLE()], [key, key]);
      assert.equal(Buffer.from(entries[expected + key]!.value).readDoubleLE(), 2 * key);
    }
    const db = new DatabaseSync(path);
    assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    db.close();
  }
});

const refused = async (path: string, why: string | RegExp) => {
  const before = statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : undefined;
  await assert.rejects(SqliteStore.open(path), ({ message }: Error) => {
    const start = `The ledger '${path}' cannot be used: `;
    assert.ok(message.startsWith(start), message);
    const reason = message.slice(start.length);
    if (typeof why === 'string') assert.equal(reason, why);
    else assert.match(reason, why);
    return true;
  });
  if (before) assert.deepEqual(readFileSync(path), before, 'a file that is refused stays as it is');
};

test('what is kept is for its owner alone', async () => {
  const path = newPath();
  const store = await SqliteStore.open(path);
  const epoch = (await store.acquire('test', 1000))!;
  await store.write(epoch, [{ jobId: 'job', kind: 'job', key: 0, value: Uint8Array.of(1) }]);
  for (const file of [path, `${path}-wal`]) assert.equal(statSync(file).mode & 0o777, 0o600, file);
  await store.close();
});

test('files that are no ledger are refused, and left as they are', async () => {
  const text = join(folder, 'notes.txt');
  writeFileSync(text, 'Not a database. '.repeat(1000));
  await refused(text, 'it is no ledger of halogrid');

  const foreign = join(folder, 'foreign.sqlite');
  const db = new DatabaseSync(foreign);
  db.exec('CREATE TABLE entries (x)');
  db.close();
  await refused(foreign, 'it is no ledger of halogrid');

  await refused(folder, 'it cannot be opened or created there');
  await refused(join(text, 'ledger.sqlite'), /^E(EXIST|NOTDIR): .*notes\.txt/);
});

test('a ledger of a later version is refused', async () => {
  const path = newPath();
  await (await SqliteStore.open(path)).close();
  const db = new DatabaseSync(path);
  db.exec('PRAGMA user_version = 2');
  db.close();
  await refused(path, 'it is of version 2 and this halogrid knows versions up to 1');
});

test('a damaged ledger is told with its name when its entries are read', async () => {
  const path = newPath();
  const store = await SqliteStore.open(path);
  const epoch = (await store.acquire('test', 1000))!;
  const value = new Uint8Array(2000).fill(7);
  await store.write(
    epoch,
    Array.from({ length: 500 }, (_, key) => ({ jobId: 'a', kind: 'plan', key, value })),
  );
  await store.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, 4 * 4096, bytes.length - 4096));
  const damaged = await SqliteStore.open(path);
  await assert.rejects(Array.fromAsync(damaged.entries()), {
    message: `The ledger '${path}' cannot be used: it is damaged; a copy of it made earlier will do`,
  });
  await damaged.close();
});

test('a clock that was set back does not keep a lease alive', async () => {
  const path = newPath();
  const store = await SqliteStore.open(path);
  assert.equal(await store.acquire('first', 60_000), 1);
  const db = new DatabaseSync(path);
  db.exec('UPDATE leader SET renewed_ms = renewed_ms + 3600000');
  db.close();
  assert.equal(await store.acquire('second', 60_000), 2);
  await store.close();
});
