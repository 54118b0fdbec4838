import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, test } from 'node:test';
import { openImage } from '../input/open-image.ts';
import { listSources } from '../input/sources.ts';
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

test('the edges of the private networks are where the registries draw them', () => {
  for (const address of ['9.255.255.255', '11.0.0.0', '172.15.255.255', '172.32.0.0', '169.253.255.255', '2606::1']) {
    assert.ok(isPublic(address), address);
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
  await assert.rejects(openImage(uri), { name, message: /^The host 'localhost:\d+' is none of those/ });
  await assert.rejects(Array.fromAsync(listSources(uri)), { name });
  allow('*');
  await assert.rejects(openImage(uri), { message: /'localhost' has an address that is not public/ });
  assert.equal(asked, 0);
  allow('localhost');
  await (await openImage(uri)).close();
  assert.ok(asked > 0);
});
