import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import { secretFolder, writeSecret } from '@halogrid/service/testing';
import { createCoordinatorConfig } from './config.ts';

test('the defaults listen on this machine alone', () => {
  const env = { XDG_DATA_HOME: '/data' };
  const { listen, http, nodeTimeoutMs, ledger, data, warnings } = createCoordinatorConfig({}, env);
  assert.deepEqual(listen, { host: '127.0.0.1', port: 7070 });
  assert.deepEqual(http, { host: '127.0.0.1', port: 9464 });
  assert.deepEqual([nodeTimeoutMs, ledger], [10_000, '/data/halogrid/ledger.sqlite']);
  assert.deepEqual([data, warnings], [{ roots: undefined, hosts: undefined, prefixes: undefined }, []]);
});

test('a host is waited for ten minutes, also by the coordinator of one run, which waits for nodes less long', () => {
  assert.deepEqual(
    [{}, { ledgerInOutput: true }, { sourceGraceMs: 0 }].map((options) => {
      const { nodeGraceMs, sourceGraceMs } = createCoordinatorConfig({ ledger: 'here.sqlite', ...options });
      return [nodeGraceMs, sourceGraceMs];
    }),
    [
      [120_000, 600_000],
      [10_000, 600_000],
      [120_000, 0],
    ],
  );
  assert.throws(() => createCoordinatorConfig({ sourceGraceMs: -1 }), /0 or more milliseconds for --source-grace/);
});

test("the ledger is the one that the option names, else a file in the user's data folder", () => {
  const env = { XDG_DATA_HOME: '/data' };
  assert.equal(createCoordinatorConfig({}, env).ledger, '/data/halogrid/ledger.sqlite');
  assert.equal(createCoordinatorConfig({ ledger: 'here.sqlite' }, env).ledger, 'here.sqlite');
});

test('the ledger may be named by a file, which only its owner may read', (t) => {
  const folder = secretFolder(t);
  const named = (text: string) => {
    return createCoordinatorConfig({ ledgerFile: writeSecret(folder, 'ledger', text) }).ledger;
  };
  assert.equal(named('postgres://me:pa55@db/halogrid\n'), 'postgres://me:pa55@db/halogrid');
  for (const text of ['', '\n', 'postgres://me:pa55@db/halogrid or so']) {
    assert.throws(
      () => named(text),
      ({ message }: UsageError) => {
        assert.match(
          message,
          /^Expected one file or URL in '.+' \(--ledger-file\) but it holds none, or several words$/,
        );
        return !message.includes('pa55');
      },
    );
  }
  chmodSync(join(folder, 'ledger'), 0o644);
  assert.throws(
    () => createCoordinatorConfig({ ledgerFile: join(folder, 'ledger') }),
    /\(--ledger-file\) is open to other users/,
  );
});

test('an option that is undefined has its default', () => {
  assert.deepEqual(createCoordinatorConfig({ listen: undefined, nodeTimeoutMs: undefined }), createCoordinatorConfig());
});

for (const option of ['listen', 'http'] as const) {
  test(`--${option} beyond this machine is refused unless the network is said to be safe`, () => {
    const options = { [option]: '0.0.0.0:1234' };
    assert.throws(() => createCoordinatorConfig(options), {
      name: 'UsageError',
      message: /0\.0\.0\.0:1234.*neither TLS/,
    });
    const config = createCoordinatorConfig({ ...options, insecureNetwork: true, data: { dataRoot: ['/'] } });
    assert.deepEqual(config[option], { host: '0.0.0.0', port: 1234 });
  });
}

test('a coordinator that other machines reach needs data roots, and requests only named web servers', () => {
  const beyond = { listen: '0.0.0.0:1', insecureNetwork: true };
  assert.throws(() => createCoordinatorConfig(beyond), /^UsageError: Expected --data-root DIR if other machines/);
  const configOf = (data: object) => createCoordinatorConfig({ ...beyond, data }).data;
  assert.deepEqual(configOf({ dataRoot: ['/proc/self/../..'] }), { roots: ['/'], hosts: [], prefixes: [] });
  const named = { dataRoot: ['/'], allowHost: ['a.example,*.B.example', '[::1]'] };
  assert.deepEqual(configOf(named), {
    roots: ['/'],
    hosts: ['a.example', '*.b.example', '[::1]'],
    prefixes: [],
  });
  assert.throws(
    () => configOf({ dataRoot: ['s3://bucket/a//b'] }),
    /an empty name between two slashes \(--data-root\)/,
  );
  assert.throws(() => configOf({ dataRoot: ['/dev/null'] }), /folder for --data-root but '\/dev\/null' is not one/);
  assert.throws(() => configOf({ dataRoot: ['/nowhere'] }), /'\/nowhere' cannot be reached/);
  for (const host of ['', 'http://a', 'a/b', 'a:80', '*a', 'a*']) {
    assert.throws(() => configOf({ dataRoot: ['/'], allowHost: [host] }), /HOST, \*\.HOST or \* for --allow-host/);
  }
});

test('prefixes of buckets are data roots, and bring the scratch of outputs there', (t) => {
  const scratch = secretFolder(t);
  const before = process.env.HALOGRID_SCRATCH;
  process.env.HALOGRID_SCRATCH = scratch;
  t.after(() => {
    if (before === undefined) delete process.env.HALOGRID_SCRATCH;
    else process.env.HALOGRID_SCRATCH = before;
  });
  const { data } = createCoordinatorConfig({ data: { dataRoot: ['/usr', 's3://bucket/a/', 'S3://other'] } });
  assert.deepEqual(data.roots, ['/usr', join(realpathSync(scratch), 's3')]);
  assert.deepEqual(data.prefixes, ['s3://bucket/a', 's3://other']);
});

test('indexes have the names of their folders, which must differ', (t) => {
  const folder = secretFolder(t);
  const [one, other] = ['a/faces', 'b/faces'].map((name) => join(folder, name)) as [string, string];
  for (const path of [one, other]) mkdirSync(path, { recursive: true });
  assert.deepEqual([...createCoordinatorConfig({ index: [one] }).indexes], [['faces', realpathSync(one)]]);
  assert.throws(
    () => createCoordinatorConfig({ index: [one, other] }),
    /different names for --index but received 'faces'/,
  );
  writeFileSync(join(folder, 'file'), '');
  assert.throws(
    () => createCoordinatorConfig({ index: [join(folder, 'file')] }),
    /folder for --index but '.*file' is not one/,
  );
  const later = createCoordinatorConfig({ index: [join(folder, 'later')] });
  assert.deepEqual([...later.indexes], [['later', join(folder, 'later')]]);
  assert.deepEqual(later.warnings, [
    `There is no index 'later' in '${join(folder, 'later')}' yet: it is searched as soon as 'halogrid index' has made it`,
  ]);
});

test('tokens allow other addresses, and warnings say what they do not protect from', (t) => {
  const tokens = writeSecret(secretFolder(t), 'tokens', 'submit alice 0123456789abcdef\n');
  const options = { listen: '0.0.0.0:1', data: { dataRoot: ['/'] }, security: { tokens } };
  assert.deepEqual(createCoordinatorConfig(options).warnings, [
    'Tokens are sent without TLS: everyone who sees the network traffic can use them',
  ]);
  assert.deepEqual(createCoordinatorConfig({ security: { tokens } }).warnings, []);
});

for (const options of [
  { listen: 'nowhere' },
  { http: '127.0.0.1:70000' },
  { nodeTimeoutMs: 99 },
  { nodeTimeoutMs: 1.5e6 },
]) {
  test(`${JSON.stringify(options)} is refused with the value in the sentence`, () => {
    const value = String(Object.values(options)[0]);
    assert.throws(
      () => createCoordinatorConfig(options),
      (error) => error instanceof UsageError && error.message.includes(`'${value}'`),
    );
  });
}
