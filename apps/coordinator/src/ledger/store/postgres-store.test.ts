import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { ledgerFormat } from './ledger-errors.ts';
import { openStore } from './open-store.ts';
import { ledgerStoreConformance } from './testing/ledger-store-conformance.ts';
import { PostgresServer, skipPostgres } from './testing/postgres-server.ts';

const options = { skip: skipPostgres };
let server: PostgresServer;
before(async () => {
  if (!skipPostgres) server = await PostgresServer.start();
});
after(() => server?.remove());

ledgerStoreConformance(
  'PostgresStore',
  async () => {
    const url = await server.createDatabase();
    return () => openStore(url);
  },
  options,
);

const put = (key: number) => ({ jobId: 'a', kind: 'plan', key, value: Uint8Array.of(key) });

test('two processes that meet an empty database make one schema', options, async () => {
  const url = await server.createDatabase();
  const stores = await Promise.all([openStore(url), openStore(url), openStore(url)]);
  for (const store of stores) await store.close();
});

test(
  'a store outlives its database: what failed may be tried again, and the lease is still there',
  options,
  async () => {
    const store = await openStore(await server.createDatabase());
    const epoch = (await store.acquire('test', 600_000))!;
    await store.write(epoch, [put(0)]);
    await server.crash();
    const away = { message: /^The ledger at postgres:\/\/\/.*\/test_\d+ cannot be used: / };
    await assert.rejects(store.renew(epoch, 600_000), away);
    await assert.rejects(store.write(epoch, [put(1)]), away);
    await assert.rejects(Array.fromAsync(store.entries()), away);
    await server.resume();
    await store.write(epoch, [put(1)]);
    assert.equal(await store.renew(epoch, 600_000), true);
    const keys = (await Array.fromAsync(store.entries())).map(({ key }) => key);
    assert.deepEqual(keys, [0, 1]);
    await store.close();
  },
);

test(
  'a database that goes away in the middle of anything is an error of that, and no end of the process',
  options,
  async () => {
    const store = await openStore(await server.createDatabase());
    const epoch = (await store.acquire('test', 600_000))!;
    for (let round = 0; round < 5; round++) {
      let isAway = false;
      const keepAsking = async (ask: () => Promise<unknown>) => {
        while (!isAway) await ask().catch(() => {});
      };
      const asked = Promise.all([
        keepAsking(() => store.write(epoch, [put(round)])),
        keepAsking(() => store.renew(epoch, 600_000)),
        keepAsking(() => Array.fromAsync(store.entries())),
      ]);
      await server.crash();
      isAway = true;
      await asked;
      await server.resume();
    }
    await store.close();
  },
);

test('a transaction that stands still is ended, so that a standby can take over', options, async () => {
  const url = await server.createDatabase();
  const [leader, standby] = [await openStore(url), await openStore(url)];
  const epoch = (await leader.acquire('leader', 1))!;
  const name = url.split('/').at(-1)!;
  // As a process that is stopped in the middle of a write: it holds the row and does not go on.
  const stopped = new Client({ connectionString: url });
  await stopped.connect();
  stopped.on('error', () => {});
  await stopped.query(
    'BEGIN; SET LOCAL idle_in_transaction_session_timeout = 3000; SELECT 1 FROM halogrid.leader FOR SHARE',
  );
  assert.equal(await standby.acquire('standby', 600_000), epoch + 1);
  const sessions = await server.query(name, `SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'`);
  assert.deepEqual(sessions, []);
  await stopped.end();
  await leader.close();
  await standby.close();
});

test('a schema of another format is refused, an older one with what to do', options, async () => {
  const url = await server.createDatabase();
  await (await openStore(url)).close();
  const setFormat = (format: number) => server.query(url, `UPDATE halogrid.leader SET schema_version = ${format}`);
  await setFormat(ledgerFormat + 1);
  const end = `it is of format ${ledgerFormat + 1} and this halogrid knows formats up to ${ledgerFormat}`;
  await assert.rejects(openStore(url), {
    message: new RegExp(`^The ledger at postgres:.* cannot be used: ${end}$`),
  });
  await setFormat(1);
  await assert.rejects(openStore(url), {
    name: 'OlderLedgerError',
    message: new RegExp(
      `^The ledger at postgres:\\S+ was written by an older version \\(format 1, this is ${ledgerFormat}\\): ` +
        'finish its jobs with that version, then remove it$',
    ),
  });
});

test('a schema that is made again has higher epochs', options, async () => {
  const url = await server.createDatabase();
  const store = await openStore(url);
  const epoch = (await store.acquire('first', 60_000))!;
  await server.query(url, 'DROP SCHEMA halogrid CASCADE');
  const other = await openStore(url);
  assert.ok((await other.acquire('second', 60_000))! > epoch);
  assert.equal(await store.renew(epoch, 60_000), false);
  await store.close();
  await other.close();
});

test('no sentence holds the password', async () => {
  for (const url of ['postgres://me:secret@127.0.0.1:9/db', 'postgresql://me:secret@127.0.0.1:9/db?password=secret']) {
    await assert.rejects(openStore(url), {
      message: 'The ledger at postgres://127.0.0.1:9/db cannot be used: connect ECONNREFUSED 127.0.0.1:9',
    });
  }
  for (const url of ['postgres://me:secret@[/db', 'mysql://me:secret@host/db', 'file:///me:secret']) {
    await assert.rejects(openStore(url), {
      name: 'UsageError',
      message:
        /^Expected FILE or postgres:\/\/USER@HOST:PORT\/DATABASE for --ledger but received '(postgres|mysql|file):\/\/…'$/,
    });
  }
});
