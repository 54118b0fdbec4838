import assert from 'node:assert/strict';
import { test } from 'node:test';
import { whyForeignName } from './own-name.ts';

const own = ['Rack-1', 'grid.example.org'];

for (const host of [
  ...['127.0.0.1:9464', '127.0.0.1', '[::1]:9464', '192.168.1.7:9464', 'localhost:9464', 'LOCALHOST', 'a.localhost:1'],
  ...['rack-1:9464', 'coordinator:9464', 'grid.example.org:9464', 'GRID.example.org', 'grid.example.org.:9464'],
  ...[
    'rack.local',
    'grid.corp.internal:9464',
    'coordinator.halogrid.svc:9464',
    'coordinator.halogrid.svc.cluster.local',
  ],
  undefined,
]) {
  test(`no other site can have pointed ${host} here`, () => assert.equal(whyForeignName(host, own), undefined));
}

for (const host of [
  ...['rebound.evil.example', 'rebound.evil.example:9464', 'rack-1.evil.example', 'grid.example.org.evil.example'],
  ...[
    'localhost.evil.example',
    '127.0.0.1.evil.example:9464',
    'local.evil',
    'evil.example.',
    'x.notlocal',
    '1.2.3.4.5',
  ],
]) {
  test(`another site may have pointed ${host} here`, () => {
    assert.match(whyForeignName(host, own)!, /^Without tokens, this answers at its address, at 'Rack-1' .* --tokens$/);
  });
}
