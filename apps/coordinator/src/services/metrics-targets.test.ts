import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Hello } from '@halogrid/proto';
import type { AttachedNodeView } from '../dispatch/attached-nodes.ts';
import { metricsTargets, reachableUrl } from './metrics-targets.ts';

const reached: [url: string, peer: string, expected: string][] = [
  ['http://0.0.0.0:9465', '10.0.0.7:51234', 'http://10.0.0.7:9465'],
  ['https://[::]:9465', '[fd00::7]:51234', 'https://[fd00::7]:9465'],
  ['http://0.0.0.0:9465', 'fd00::7:51234', 'http://[fd00::7]:9465'],
  ['http://0.0.0.0:9465', '::ffff:10.0.0.7:51234', 'http://10.0.0.7:9465'],
  ['http://rack-3.example.org:9465', '10.0.0.7:51234', 'http://rack-3.example.org:9465'],
  ['http://127.0.0.1:9465', '127.0.0.1:51234', 'http://127.0.0.1:9465'],
  ['http://localhost:9465', '[::1]:51234', 'http://localhost:9465'],
  ['http://0.0.0.0:9465', '127.0.0.1:51234', 'http://0.0.0.0:9465'],
  ['http://127.0.0.1:9465', '10.0.0.7:51234', ''],
  ['', '10.0.0.7:51234', ''],
  ['ftp://rack:1', '10.0.0.7:51234', ''],
  ['http://rack:1/metrics', '10.0.0.7:51234', ''],
  ['http://user@rack:1', '10.0.0.7:51234', ''],
];

for (const [url, peer, expected] of reached) {
  test(`metrics at '${url}' of a node at ${peer} are reached at '${expected}'`, () => {
    assert.equal(reachableUrl(url, peer), expected);
  });
}

test('targets are the nodes that others reach', () => {
  const node = (name: string, metricsUrl: string) =>
    ({ hello: Hello.fromPartial({ name, metricsUrl, device: { kind: 'gpu' } }) }) as AttachedNodeView;
  const nodes = [node('a', 'http://10.0.0.7:9465'), node('hidden', ''), node('b', 'https://[fd00::7]:1')];
  const labels = { __meta_halogrid_device: 'gpu' };
  assert.deepEqual(metricsTargets({ nodes: () => nodes }, 'rack-1:9464'), [
    { targets: ['10.0.0.7:9465'], labels: { ...labels, __scheme__: 'http', __meta_halogrid_node: 'a' } },
    { targets: ['[fd00::7]:1'], labels: { ...labels, __scheme__: 'https', __meta_halogrid_node: 'b' } },
  ]);
});

const onOneMachine: [metricsUrl: string, asked: string, expected: string[]][] = [
  ['http://0.0.0.0:1', 'rack-1:9464', ['rack-1:1']],
  ['http://[::]:1', '[fd00::1]:9464', ['[fd00::1]:1']],
  ['http://0.0.0.0:1', 'grid.example.org', ['grid.example.org:1']],
  ['http://127.0.0.1:1', 'localhost:9464', ['127.0.0.1:1']],
  ['http://127.0.0.1:1', 'rack-1:9464', []],
  ['http://0.0.0.0:1', '', []],
];

for (const [metricsUrl, asked, expected] of onOneMachine) {
  test(`a coordinator asked as '${asked}' names its machine's node at ${metricsUrl} as ${expected}`, () => {
    const node = { hello: Hello.fromPartial({ name: 'a', metricsUrl }) } as AttachedNodeView;
    const targets = metricsTargets({ nodes: () => [node] }, asked);
    assert.deepEqual(
      targets.flatMap((group) => group.targets),
      expected,
    );
  });
}
