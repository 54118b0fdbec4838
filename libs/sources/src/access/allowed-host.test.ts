import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { openInputFile } from '../files/input-file.ts';
import { listSources } from '../listing/sources.ts';
import { checkHost, isPublic, lookupAllowed } from './allowed-host.ts';
import { restrictSources, unrestricted } from './source-access.ts';

afterEach(() => restrictSources(unrestricted));

const allow = (...hosts: string[]) => restrictSources({ roots: undefined, hosts });
const isAllowed = (url: string): boolean => {
  try {
    checkHost(new URL(url));
    return true;
  } catch {
    return false;
  }
};

test('hosts are those named, those below a pattern, or all that are public', () => {
  assert.ok(isAllowed('http://anything'));
  allow('a.example', '*.b.example');
  for (const url of ['http://a.example', 'https://A.example:8443/x', 'http://a.example.', 'http://c.b.example']) {
    assert.ok(isAllowed(url), url);
  }
  for (const url of [
    'http://b.example',
    'http://xa.example',
    'http://a.example.evil',
    'http://xb.example',
    'http://a',
  ]) {
    assert.ok(!isAllowed(url), url);
  }
  allow();
  assert.ok(!isAllowed('http://a.example'));
});

test('addresses that are not public must be named, in whatever form they are written', () => {
  allow('*');
  assert.ok(isAllowed('http://93.184.215.14'));
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0177.0.0.1',
    '0x7f.1',
    '169.254.169.254',
    '0xA9FEA9FE',
    '10.1.2.3',
    '172.31.0.1',
    '192.168.1.1',
    '100.64.0.1',
    '0.0.0.0',
    '[::1]',
    '[::]',
    '[::ffff:169.254.169.254]',
    '[::ffff:7f00:1]',
    '[fd00::1]',
    '[fe80::1]',
    '[64:ff9b::a9fe:a9fe]',
    '[2002:7f00:1::]',
  ]) {
    assert.ok(!isAllowed(`http://${host}/x`), host);
  }
  allow('*', '127.0.0.1', '[::1]');
  assert.ok(isAllowed('http://2130706433'));
  assert.ok(isAllowed('http://[0:0:0:0:0:0:0:1]'));
  assert.ok(!isAllowed('http://127.0.0.2'));
});

/**
 * First and last address of every network of IANA's registries that is not globally reachable, and its neighbours that
 * are.
 */
const networks: [first: string, last: string, outside: string[]][] = [
  ['0.0.0.0', '0.255.255.255', ['1.0.0.0']],
  ['10.0.0.0', '10.255.255.255', ['9.255.255.255', '11.0.0.0']],
  ['100.64.0.0', '100.127.255.255', ['100.63.255.255', '100.128.0.0']],
  ['127.0.0.0', '127.255.255.255', ['126.255.255.255', '128.0.0.0']],
  ['169.254.0.0', '169.254.255.255', ['169.253.255.255', '169.255.0.0']],
  ['172.16.0.0', '172.31.255.255', ['172.15.255.255', '172.32.0.0']],
  ['192.0.0.0', '192.0.0.255', ['191.255.255.255', '192.0.1.0']],
  ['192.0.2.0', '192.0.2.255', ['192.0.1.255', '192.0.3.0']],
  ['192.88.99.0', '192.88.99.255', ['192.88.98.255', '192.88.100.0']],
  ['192.168.0.0', '192.168.255.255', ['192.167.255.255', '192.169.0.0']],
  ['198.18.0.0', '198.19.255.255', ['198.17.255.255', '198.20.0.0']],
  ['198.51.100.0', '198.51.100.255', ['198.51.99.255', '198.51.101.0']],
  ['203.0.113.0', '203.0.113.255', ['203.0.112.255', '203.0.114.0']],
  ['224.0.0.0', '239.255.255.255', ['223.255.255.255']],
  ['240.0.0.0', '255.255.255.255', []],
  // Loopback, unspecified, and IPv4-compatible.
  ['::', '::ffff:ffff', []],
  ['::127.0.0.1', '::93.184.215.14', []],
  // IPv4-mapped is as IPv4; IPv4-translated is not.
  ['::ffff:10.0.0.0', '::ffff:10.255.255.255', ['::ffff:9.255.255.255', '::ffff:11.0.0.0', '::ffff:5db8:d70e']],
  ['::ffff:0:0:0', '::ffff:0:ffff:ffff', []],
  ['::ffff:0:127.0.0.1', '::ffff:0:93.184.215.14', []],
  ['64:ff9b::', '64:ff9b::ffff:ffff', []],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', []],
  ['100::', '100::ffff:ffff:ffff:ffff', []],
  ['100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff', []],
  // Teredo, benchmarks, ORCHID and ORCHIDv2 are in the first of these.
  ['2001::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', ['2000:ffff:ffff::', '2001:200::']],
  ['2001::1', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', []],
  ['2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['2001:20::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:db7:ffff::', '2001:db9::']],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2001:ffff::', '2003::']],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', ['3ffe:ffff::', '3fff:1000::']],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', []],
  ['fe80::1%1', 'fe80::2%1', []],
  // Nobody has these.
  ['4000::', 'fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', ['2606::1', '2a00::', '3ffe::']],
];
test('the edges of the networks that are not public are where the registries draw them', () => {
  for (const [first, last, outside] of networks) {
    for (const address of [first, last]) assert.ok(!isPublic(address), address);
    for (const address of outside) assert.ok(isPublic(address), address);
  }
});

test('a name is looked up once, and one that leads to this machine must be named itself', async () => {
  const find = () =>
    new Promise<unknown>((resolve) =>
      lookupAllowed('localhost', { all: true }, (error, found) => resolve(error ?? found)),
    );
  allow('*');
  assert.match(String(await find()), /'localhost' has an address that is not public/);
  allow('localhost');
  assert.ok(Array.isArray(await find()));
});

test('a request is made only where the host may be asked, and the error names no address', async (t) => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked++;
    response.end('P5\n1 1\n255\na');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const uri = `http://localhost:${(server.address() as AddressInfo).port}/a.pgm`;
  allow();
  const name = 'SourceForbiddenError';
  await assert.rejects(openInputFile(uri), { name, message: /^The host 'localhost:\d+' is not among those/ });
  await assert.rejects(Array.fromAsync(listSources(uri)), { name });
  allow('*');
  await assert.rejects(openInputFile(uri), { message: /'localhost' has an address that is not public/ });
  assert.equal(asked, 0);
  allow('localhost');
  await (await openInputFile(uri)).close();
  assert.ok(asked > 0);
});
