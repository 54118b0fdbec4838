import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { repeated, within } from '@halogrid/testing';
import { specSum, statusSum } from './job-row.ts';
import { DamagedLedgerError, LostLedgerError, OlderLedgerError } from './ledger-errors.ts';
import { firstFormat, registryFormat } from './migrations.ts';
import { SqliteRegistry } from './sqlite-registry.ts';
import { begin, note, registryConformance } from './testing/registry-conformance.ts';

const folder = mkdtempSync(join(tmpdir(), 'halogrid-registry-'));
after(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;
const newPath = () => join(folder, `folder-${files++}`, 'ledger.sqlite');

registryConformance('SqliteRegistry', async () => {
  const path = newPath();
  return () => SqliteRegistry.open(path);
});

const kills = repeated(3);

test(`everything that a process wrote before it was killed is there, ${kills} times over`, async () => {
  const path = newPath();
  let expected = 0;
  for (let round = 0; round < kills; round++) {
    const writer = fork(new URL('./testing/killed-writer.ts', import.meta.url), [path, String(expected)]);
    let acknowledged = expected;
    const enough = expected + 5 + round * 7;
    writer.on('message', (written) => {
      acknowledged = written as number;
      if (acknowledged >= enough) writer.kill('SIGKILL');
    });
    // Its last message may arrive after the process has ended, but not after its channel has.
    await within('the end of the writer', Promise.all([once(writer, 'exit'), once(writer, 'disconnect')]));
    assert.ok(acknowledged >= enough, `the writer ended itself at ${acknowledged}`);

    const registry = await SqliteRegistry.open(path);
    const jobs = await Array.fromAsync(registry.jobs());
    await registry.close();
    // Each transaction writes two jobs; the last one may have been written but not acknowledged.
    expected = jobs.length / 2;
    assert.ok(expected === acknowledged || expected === acknowledged + 1, `${expected} after ${acknowledged}`);
    const written = new Map(jobs.map(({ jobId, status }) => [jobId, Number(status)]));
    for (let key = 0; key < expected; key++) {
      assert.deepEqual([written.get(`number ${key}`), written.get(`double ${key}`)], [key, 2 * key]);
    }
    const db = new DatabaseSync(path);
    assert.deepEqual({ ...db.prepare('PRAGMA integrity_check').get() }, { integrity_check: 'ok' });
    db.close();
  }
});

const refused = async (path: string, why: string | RegExp) => {
  const before = statSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path) : undefined;
  await assert.rejects(SqliteRegistry.open(path), ({ message }: Error) => {
    const start = `The ledger '${path}' cannot be used: `;
    assert.ok(message.startsWith(start), message);
    const reason = message.slice(start.length);
    if (typeof why === 'string') assert.equal(reason, why);
    else assert.match(reason, why);
    return true;
  });
  if (before) assert.deepEqual(readFileSync(path), before, 'a file that is refused stays as it is');
};

test('only the owner can read the files', async () => {
  const path = newPath();
  const registry = await SqliteRegistry.open(path);
  const epoch = (await registry.acquire('test', 1000))!;
  await registry.write(epoch, [begin('job', 'x')]);
  for (const file of [path, `${path}-wal`]) assert.equal(statSync(file).mode & 0o777, 0o600, file);
  await registry.close();
});

test('files that are not ledgers are refused, and left as they are', async () => {
  const text = join(folder, 'notes.txt');
  writeFileSync(text, 'Not a database. '.repeat(1000));
  await refused(text, 'it is not a ledger of halogrid, or damaged');

  const foreign = join(folder, 'foreign.sqlite');
  const db = new DatabaseSync(foreign);
  db.exec('CREATE TABLE jobs (x)');
  db.close();
  await refused(foreign, 'it is not a ledger of halogrid');

  await refused(folder, /^it cannot be opened or created there; give another file with --ledger/);
  await refused(join(text, 'ledger.sqlite'), /^E(EXIST|NOTDIR): .*notes\.txt/);
});

test('a ledger of another format is refused, and for an older one the error says what to do', async () => {
  const path = newPath();
  await (await SqliteRegistry.open(path)).close();
  const setFormat = (format: number) => {
    const db = new DatabaseSync(path);
    db.exec(`PRAGMA user_version = ${format}`);
    db.close();
  };
  setFormat(registryFormat + 1);
  await refused(path, `it is of format ${registryFormat + 1} and this halogrid knows formats up to ${registryFormat}`);
  setFormat(1);
  const before = readFileSync(path);
  await assert.rejects(SqliteRegistry.open(path), (error) => {
    assert.ok(error instanceof OlderLedgerError);
    assert.equal(error.format, 1);
    assert.equal(
      error.message,
      `The ledger '${path}' was written by an older version (format 1, this is ${registryFormat}): ` +
        'finish its jobs with that version, then remove it',
    );
    return true;
  });
  assert.deepEqual(readFileSync(path), before);
});

/** The tables as the first version with migrations made them. */
const firstTables = `
  CREATE TABLE jobs (
    job_id TEXT PRIMARY KEY, spec TEXT NOT NULL, spec_sum INTEGER NOT NULL,
    status TEXT NOT NULL, marks TEXT NOT NULL, status_sum INTEGER NOT NULL, leader INTEGER, epoch INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE leader (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch INTEGER NOT NULL, holder TEXT, renewed_ms INTEGER NOT NULL, lease_ms INTEGER NOT NULL
  ) STRICT;
  INSERT INTO leader VALUES (1, 7, NULL, 0, 0);
  PRAGMA application_id = ${0x48414c4f};
  PRAGMA user_version = ${firstFormat};
`;

test('a ledger of the first format is migrated with its jobs, also if several processes open it at once', async () => {
  const path = newPath();
  mkdirSync(dirname(path));
  const old = new DatabaseSync(path);
  old.exec(firstTables);
  const [spec, status] = ['its specification', 'running'];
  old
    .prepare('INSERT INTO jobs VALUES (?, ?, ?, ?, ?, ?, ?, ?)')
    .run('a', spec, specSum('a', spec), status, '[[7,100]]', statusSum('a', status, '[[7,100]]', false), 7, 7);
  const registries = await Promise.all([1, 2, 3].map(() => SqliteRegistry.open(path)));
  const [registry] = registries;
  const epoch = (await registry!.acquire('next', 60_000))!;
  assert.ok(epoch > 7);
  assert.deepEqual(await Array.fromAsync(registry!.jobs()), [
    { jobId: 'a', spec, status, marks: [{ epoch: 7, bytes: 100 }], leader: epoch, epoch },
  ]);
  await registry!.writeHistories(epoch, new Map([['a', 'its history']]));
  assert.equal(await registries[2]!.history('a'), 'its history');
  // A process of the earlier version that still has it open may write and remove jobs.
  old.exec("DELETE FROM jobs WHERE job_id = 'a'");
  old.close();
  assert.equal(await registry!.history('a'), undefined);
  for (const each of registries) await each.close();
});

test('a damaged ledger is reported by its name when its jobs are read', async () => {
  const path = newPath();
  const registry = await SqliteRegistry.open(path);
  const epoch = (await registry.acquire('test', 1000))!;
  await registry.write(
    epoch,
    Array.from({ length: 500 }, (_, key) => begin(`job-${key}`, 'x'.repeat(2000))),
  );
  await registry.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, 4 * 4096, bytes.length - 4096));
  const damaged = await SqliteRegistry.open(path);
  await assert.rejects(Array.fromAsync(damaged.jobs()), (error) => {
    assert.ok(error instanceof DamagedLedgerError);
    const { message } = error;
    assert.equal(
      message,
      `The ledger is damaged: '${path}' cannot be read (database disk image is malformed); a copy of it made earlier will do`,
    );
    return true;
  });
  await damaged.close();
});

test('a job that has changed in the file is reported when it is read', async () => {
  for (const change of ["status = 'other'", "spec = 'other'", "marks = '[[1,2]]'", 'leader = NULL', "job_id = 'b'"]) {
    const path = newPath();
    const registry = await SqliteRegistry.open(path);
    await registry.write((await registry.acquire('test', 1000))!, [begin('a', 'x')]);
    const db = new DatabaseSync(path);
    db.exec(`UPDATE jobs SET ${change}`);
    db.close();
    await assert.rejects(Array.fromAsync(registry.jobs()), {
      name: 'DamagedLedgerError',
      message: /^The ledger is damaged: the (status|specification) of job [ab] has changed since it was written$/,
    });
    await registry.close();
  }
});

test('a clock that was set back does not keep a lease alive', async () => {
  const path = newPath();
  const registry = await SqliteRegistry.open(path);
  const epoch = (await registry.acquire('first', 60_000))!;
  const db = new DatabaseSync(path);
  db.exec('UPDATE leader SET renewed_ms = renewed_ms + 3600000');
  db.close();
  assert.ok((await registry.acquire('second', 60_000))! > epoch);
  await registry.close();
});

/** Ways to lose a ledger, and the file whose absence is noticed first. */
const losses: [name: string, lose: (path: string) => void, missed: (path: string) => string][] = [
  ['its file is deleted', (path) => rmSync(path), (path) => path],
  ['its file is renamed', (path) => renameSync(path, `${path}.old`), (path) => path],
  [
    'its file is replaced',
    (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    },
    (path) => path,
  ],
  ['all its files are deleted', (path) => rmSync(dirname(path), { recursive: true }), (path) => path],
  ['its folder is renamed', (path) => renameSync(dirname(path), `${dirname(path)}-old`), (path) => path],
  ['its log is deleted', (path) => rmSync(`${path}-wal`), (path) => `${path}-wal`],
  ['its shared memory is deleted', (path) => rmSync(`${path}-shm`), (path) => `${path}-shm`],
];

for (const [name, lose, missed] of losses) {
  test(`a ledger in use is lost when ${name}: to the leader in every call, and to the standby`, async (t) => {
    const path = newPath();
    const [writer, renewer, standby] = await Promise.all([1, 2, 3].map(() => SqliteRegistry.open(path)));
    t.after(() => Promise.all([writer, renewer, standby].map((registry) => registry!.close())));
    const epoch = (await writer!.acquire('leader', 60_000))!;
    await writer!.write(epoch, [begin('a', '0')]);
    lose(path);
    const lost = (error: Error): true => {
      assert.ok(error instanceof LostLedgerError, error.stack);
      const file = missed(path) === path ? '' : ` ('${missed(path)}')`;
      assert.match(error.message, /^The ledger '.*' was deleted or replaced while in use.*; nothing more is written: /);
      assert.ok(error.message.startsWith(`The ledger '${path}' was deleted or replaced while in use${file};`));
      return true;
    };
    await assert.rejects(writer!.write(epoch, [note('a', '1')]), lost);
    await assert.rejects(writer!.write(epoch, []), lost);
    await assert.rejects(renewer!.renew(epoch, 60_000), lost);
    await assert.rejects(standby!.acquire('standby', 60_000), lost);
  });
}

test('deleting a log while in use loses nothing that was acknowledged', async () => {
  const path = newPath();
  const registry = await SqliteRegistry.open(path);
  const epoch = (await registry.acquire('leader', 60_000))!;
  for (let key = 0; key < 20; key++) await registry.write(epoch, [begin(`job-${key}`, 'x')]);
  rmSync(`${path}-wal`);
  rmSync(`${path}-shm`);
  await assert.rejects(registry.renew(epoch, 60_000), LostLedgerError);
  await registry.close();
  const again = await SqliteRegistry.open(path);
  assert.equal((await Array.fromAsync(again.jobs())).length, 20);
  await again.close();
});

test('a file that replaces another gives higher epochs, even at once', async () => {
  const path = newPath();
  let before = 0;
  for (let round = 0; round < 3; round++) {
    const registry = await SqliteRegistry.open(path);
    const first = (await registry.acquire('first', 0))!;
    assert.ok(first > before, `${first} after ${before}`);
    before = (await registry.acquire('second', 0))!;
    await registry.close();
    rmSync(dirname(path), { recursive: true });
  }
});

test('a restored copy of a file gives higher epochs than any since it was made', async () => {
  const path = newPath();
  const before = await SqliteRegistry.open(path);
  await before.acquire('before', 0);
  await before.close();
  copyFileSync(path, `${path}.copy`);
  const since = await SqliteRegistry.open(path);
  const epoch = (await since.acquire('since', 0))!;
  await since.close();
  copyFileSync(`${path}.copy`, path);
  const after = await SqliteRegistry.open(path);
  assert.ok((await after.acquire('after', 0))! > epoch);
  await after.close();
});
