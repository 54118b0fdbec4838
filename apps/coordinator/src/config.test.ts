import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UsageError } from '@halogrid/service';
import { createCoordinatorConfig } from './config.ts';

test('the defaults listen on this machine alone', () => {
  assert.deepEqual(createCoordinatorConfig({}, { XDG_DATA_HOME: '/data' }), {
    listen: { host: '127.0.0.1', port: 7070 },
    http: { host: '127.0.0.1', port: 9464 },
    nodeTimeoutMs: 10_000,
    ledger: '/data/halogrid/ledger.sqlite',
  });
});

test('the ledger is what the option says, else what the environment says', () => {
  const env = { HALOGRID_LEDGER: 'postgres://me:secret@db/halogrid' };
  assert.equal(createCoordinatorConfig({}, env).ledger, env.HALOGRID_LEDGER);
  assert.equal(createCoordinatorConfig({ ledger: 'here.sqlite' }, env).ledger, 'here.sqlite');
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
    const config = createCoordinatorConfig({ ...options, insecureNetwork: true });
    assert.deepEqual(config[option], { host: '0.0.0.0', port: 1234 });
  });
}

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
