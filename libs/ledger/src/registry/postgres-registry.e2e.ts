import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, repeated } from '@halogrid/testing';
import { Client } from 'pg';
import { firstFormat, registryFormat, sharedFormats } from './migrations.ts';
import { openRegistry } from './open-registry.ts';
import { jobSharesConformance } from './testing/job-shares-conformance.ts';
import { PostgresServer, skipPostgres } from './testing/postgres-server.ts';
import { begin, registryConformance } from './testing/registry-conformance.ts';

const options = { skip: skipPostgres };
let server: PostgresServer;
before(async () => {
  if (!skipPostgres) server = await PostgresServer.start({ syncs: false });
});
after(() => server?.remove());

registryConformance(
  'PostgresRegistry',
  async () => {
    const url = server.createSchema();
    return () => openRegistry(url);
  },
  { ...options, hasShares: true },
);

jobSharesConformance(
  'PostgresRegistry',
  async () => {
    const url = server.createSchema();
    return () => openRegistry(url);
  },
  options,
);

const newest = sharedFormats + registryFormat;
const put = (key: number) => begin(`job-${key}`, String(key));

test('two processes that meet an empty database make one schema', options, async () => {
  const url = await server.createDatabase();
  const registries = await Promise.all([openRegistry(url), openRegistry(url), openRegistry(url)]);
  for (const registry of registries) await registry.close();
});

test(
  'a registry outlives its database: what failed may be tried again, and the lease is still there',
  options,
  async () => {
    const registry = await openRegistry(await server.createDatabase());
    const epoch = (await registry.acquire('test', 600_000))!;
    await registry.write(epoch, [put(0)]);
    await server.crash();
    const away = { message: /^The ledger at postgres:\/\/\/.*\/test_\d+ cannot be used: / };
    await assert.rejects(registry.renew(epoch, 600_000), away);
    await assert.rejects(registry.write(epoch, [put(1)]), away);
    await assert.rejects(Array.fromAsync(registry.jobs()), away);
    await server.resume();
    await registry.write(epoch, [put(1)]);
    assert.equal(await registry.renew(epoch, 600_000), true);
    const keys = (await Array.fromAsync(registry.jobs())).map(({ status }) => Number(status));
    assert.deepEqual(keys, [0, 1]);
    await registry.close();
  },
);

test(
  'a database that goes away in the middle of anything is an error of that, and no end of the process',
  options,
  async () => {
    const registry = await openRegistry(await server.createDatabase());
    const epoch = (await registry.acquire('test', 600_000))!;
    for (let round = 0; round < repeated(2, 5); round++) {
      let isAway = false;
      const keepAsking = async (ask: () => Promise<unknown>) => {
        while (!isAway) await ask().catch(() => {});
      };
      const asked = Promise.all([
        keepAsking(() => registry.write(epoch, [put(round)])),
        keepAsking(() => registry.renew(epoch, 600_000)),
        keepAsking(() => Array.fromAsync(registry.jobs())),
      ]);
      await server.crash();
      isAway = true;
      await asked;
      await server.resume();
    }
    await registry.close();
  },
);

test('a transaction that hangs is ended, so that others can take over its jobs', options, async () => {
  const url = await server.createDatabase();
  const [leader, other] = [await openRegistry(url), await openRegistry(url)];
  const epoch = (await leader.acquire('leader', 1))!;
  await leader.write(epoch, [put(0)]);
  const own = (await other.acquire('other', 600_000))!;
  const name = url.split('/').at(-1)!;
  // Acts like a process that is stopped in the middle of a write: it holds the row.
  const stopped = new Client({ connectionString: url });
  await stopped.connect();
  stopped.on('error', () => {});
  await stopped.query(
    'BEGIN; SET LOCAL idle_in_transaction_session_timeout = 500; SELECT 1 FROM halogrid.coordinators FOR KEY SHARE',
  );
  assert.equal((await other.shares!.adopt(own, [{ jobId: 'job-0', leader: epoch }])).length, 1);
  // The row is released before the session disappears from the list.
  await eventually('the session to be over', async () => {
    const idle = await server.query(name, `SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'`);
    return idle.length === 0;
  });
  await stopped.end();
  await leader.close();
  await other.close();
});

test(
  'a renewal waits for nothing else that its process asks, and who takes its jobs for its writes',
  options,
  async () => {
    const url = await server.createDatabase();
    const [leader, other] = [await openRegistry(url), await openRegistry(url)];
    const epoch = (await leader.acquire('leader', 600_000))!;
    await leader.write(epoch, [put(0)]);
    const own = (await other.acquire('other', 600_000))!;
    const blocking = new Client({ connectionString: url });
    await blocking.connect();
    // A write waits for the row; reading a page does not wait.
    await blocking.query('BEGIN; SELECT 1 FROM halogrid.jobs FOR UPDATE');
    const ended: string[] = [];
    const written = leader.write(epoch, [put(0)]).then(() => ended.push('written'));
    const waiting = (count: number) =>
      eventually(`${count} statements to wait`, async () => {
        const rows = await server.query(url, `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
        return rows.length === count;
      });
    await waiting(1);
    // The lease is over at once, so that its job can be adopted once its write has ended.
    assert.equal(await leader.renew(epoch, 1), true);
    const adopted = other.shares!.adopt(own, [{ jobId: 'job-0', leader: epoch }]).then(() => ended.push('adopted'));
    await waiting(2);
    await blocking.end();
    await Promise.all([written, adopted]);
    assert.deepEqual(ended, ['written', 'adopted']);
    await leader.close();
    await other.close();
  },
);

test('coordinators of another version are refused while one leads', options, async () => {
  const url = await server.createDatabase();
  const [registry, other] = [await openRegistry(url), await openRegistry(url)];
  const epoch = (await registry.acquire('the coordinator on host-a', 600_000))!;
  for (const column of ['protocol', 'results']) {
    await server.query(url, `UPDATE halogrid.coordinators SET ${column} = ${column} + 2`);
    await assert.rejects(other.acquire('other', 600_000), {
      name: 'OtherVersionError',
      message:
        /^The ledger is led by another version: the coordinator on host-a speaks protocol \d+ and computes results of version \d+ \(software .+\), this one \d+ to \d+ and \d+ \(software .+\); end the others first, or run their version$/,
    });
    await server.query(url, `UPDATE halogrid.coordinators SET ${column} = ${column} - 2`);
  }
  // Versions that follow each other lead together, whichever came first.
  for (const change of ['- 1', '+ 2']) {
    await server.query(url, `UPDATE halogrid.coordinators SET protocol = protocol ${change}`);
    await other.release((await other.acquire('other', 600_000))!);
  }
  await server.query(url, 'UPDATE halogrid.coordinators SET protocol = protocol + 1');
  await registry.release(epoch);
  assert.ok((await other.acquire('other', 600_000))! > epoch);
  await registry.close();
  await other.close();
});

test('clusters share a database, each in its own schema', options, async () => {
  const url = await server.createDatabase();
  const [a, b] = [await openRegistry(`${url}?schema=site_a`), await openRegistry(`${url}?schema=site_b`)];
  await a.write((await a.acquire('a', 600_000))!, [put(0)]);
  await b.write((await b.acquire('b', 600_000))!, [put(1)]);
  const keys = async (registry: typeof a) =>
    (await Array.fromAsync(registry.jobs())).map(({ status }) => Number(status));
  assert.deepEqual([await keys(a), await keys(b)], [[0], [1]]);
  await a.close();
  await b.close();
  for (const schema of ['', 'A', 'a-b', 'a;b', '"a"', `a${'b'.repeat(63)}`]) {
    await assert.rejects(openRegistry(`${url}?schema=${encodeURIComponent(schema)}`), {
      name: 'UsageError',
      message: `Expected a lower-case name of letters, digits and _ as schema of --ledger but received '${schema}'`,
    });
  }
});

test('a schema of another format is refused, and for an older one the error says what to do', options, async () => {
  const url = await server.createDatabase();
  await (await openRegistry(url)).close();
  const setFormat = (format: number) => server.query(url, `UPDATE halogrid.leader SET schema_version = ${format}`);
  await setFormat(newest + 1);
  const end = `it is of format ${newest + 1} and this halogrid knows formats up to ${newest}`;
  await assert.rejects(openRegistry(url), {
    message: new RegExp(`^The ledger at postgres:.* cannot be used: ${end}$`),
  });
  await setFormat(1);
  await assert.rejects(openRegistry(url), {
    name: 'OlderLedgerError',
    message: new RegExp(
      `^The ledger at postgres:\\S+ was written by an older version \\(format 1, this is ${newest}\\): ` +
        'finish its jobs with that version, then remove it$',
    ),
  });
});

test('a schema of the first format is migrated, while a coordinator of that version goes on', options, async () => {
  const url = await server.createDatabase();
  const registry = await openRegistry(url);
  await server.query(url, 'DROP TABLE halogrid.histories');
  await server.query(url, `UPDATE halogrid.leader SET schema_version = ${sharedFormats + firstFormat}`);
  const epoch = (await registry.acquire('of the earlier version', 600_000))!;
  await registry.write(epoch, [put(0)]);
  const [one, other] = await Promise.all([openRegistry(url), openRegistry(url)]);
  await registry.write(epoch, [put(1)]);
  const next = (await one.acquire('of this version', 600_000))!;
  await one.write(next, [put(2)]);
  await one.writeHistories(next, new Map([['job-2', 'its history']]));
  assert.equal(await other.history('job-2'), 'its history');
  assert.equal((await Array.fromAsync(other.jobs())).length, 3);
  for (const each of [registry, one, other]) await each.close();
});

test('a restored schema gives higher epochs than any that was given since its backup', options, async () => {
  const url = await server.createDatabase();
  const store = await openRegistry(url);
  await store.acquire('first', 60_000);
  const [backup] = await server.query(url, 'SELECT epoch FROM halogrid.leader');
  const since = (await store.acquire('second', 60_000))!;
  await server.query(url, `UPDATE halogrid.leader SET epoch = ${backup!.epoch}`);
  assert.ok((await store.acquire('third', 60_000))! > since);
  await store.close();
});

test('a schema that is deleted and made again gives higher epochs', options, async () => {
  const url = await server.createDatabase();
  const registry = await openRegistry(url);
  const epoch = (await registry.acquire('first', 60_000))!;
  await server.query(url, 'DROP SCHEMA halogrid CASCADE');
  const other = await openRegistry(url);
  assert.ok((await other.acquire('second', 60_000))! > epoch);
  assert.equal(await registry.renew(epoch, 60_000), false);
  await registry.close();
  await other.close();
});

test('no sentence holds the password', async () => {
  for (const url of ['postgres://me:secret@127.0.0.1:9/db', 'postgresql://me:secret@127.0.0.1:9/db?password=secret']) {
    await assert.rejects(openRegistry(url), {
      message: 'The ledger at postgres://127.0.0.1:9/db cannot be used: connect ECONNREFUSED 127.0.0.1:9',
    });
  }
  for (const url of ['postgres://me:secret@[/db', 'mysql://me:secret@host/db', 'file:///me:secret']) {
    await assert.rejects(openRegistry(url), {
      name: 'UsageError',
      message:
        /^Expected FILE or postgres:\/\/USER@HOST:PORT\/DATABASE for --ledger but received '(postgres|mysql|file):\/\/…'$/,
    });
  }
});
