import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client } from 'pg';
import { ledgerStoreConformance } from './ledger-store-conformance.ts';
import { openStore } from './open-store.ts';
import { PostgresServer, skipPostgres } from './postgres-server.ts';

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

test('a write waits for a database that went away, and the lease is still there', options, async () => {
  const store = await openStore(await server.createDatabase());
  const epoch = (await store.acquire('test', 600_000))!;
  await store.write(epoch, [put(0)]);
  await server.crash();
  await assert.rejects(
    store.renew(epoch, 600_000),
    /^Error: The ledger at postgres:\/\/\/.*\/test_\d+ cannot be used: /,
  );
  const written = store.write(epoch, [put(1)]);
  await server.resume();
  await written;
  assert.equal(await store.renew(epoch, 600_000), true);
  const keys = (await Array.fromAsync(store.entries())).map(({ key }) => key);
  assert.deepEqual(keys, [0, 1]);
  await store.close();
});

test('a store that is closed while the database is away ends its writes', options, async () => {
  const store = await openStore(await server.createDatabase());
  const epoch = (await store.acquire('test', 600_000))!;
  await server.crash();
  const written = assert.rejects(store.write(epoch, [put(1)]));
  await store.close();
  await written;
  await server.resume();
});

test('a transaction that stands still is ended, so that a standby can take over', options, async () => {
  const url = await server.createDatabase();
  const [leader, standby] = [await openStore(url), await openStore(url)];
  await leader.acquire('leader', 1);
  const name = url.split('/').at(-1)!;
  // As a process that is stopped in the middle of a write: it holds the row and does not go on.
  const stopped = new Client({ connectionString: url });
  await stopped.connect();
  stopped.on('error', () => {});
  await stopped.query(
    'BEGIN; SET LOCAL idle_in_transaction_session_timeout = 3000; SELECT 1 FROM halogrid.leader FOR SHARE',
  );
  assert.equal(await standby.acquire('standby', 600_000), 2);
  const sessions = await server.query(name, `SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'`);
  assert.deepEqual(sessions, []);
  await stopped.end();
  await leader.close();
  await standby.close();
});

test('a schema of a later version is refused', options, async () => {
  const url = await server.createDatabase();
  await (await openStore(url)).close();
  await server.query(url, 'UPDATE halogrid.leader SET schema_version = 2');
  await assert.rejects(openStore(url), {
    message: /^The ledger at postgres:.* cannot be used: it is of version 2 and this halogrid knows versions up to 1$/,
  });
});

test('no sentence holds the password', async () => {
  for (const url of ['postgres://me:secret@127.0.0.1:9/db', 'postgresql://me:secret@127.0.0.1:9/db?password=secret']) {
    await assert.rejects(openStore(url), {
      message: 'The ledger at postgres://127.0.0.1:9/db cannot be used: connect ECONNREFUSED 127.0.0.1:9',
    });
  }
  await assert.rejects(openStore('postgres://me:secret@[/db'), (error: Error) => {
    return error.name === 'UsageError' && !error.message.includes('secret');
  });
});
