import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFindings, type Findings } from './describe-findings.ts';

const findings: Findings = {
  versions: { halogrid: '0.1.0', node: '24.0.0' },
  machine: { platform: 'linux x64', cores: 2, memoryBytes: 8 * 2 ** 30, freeBytes: 2 ** 30, poolThreads: 4 },
  devices: {
    gpu: { works: false, reason: "The device 'gpu' is not available: there is no driver." },
    cpu: { works: true, device: { kind: 'cpu', name: 'AMD', driver: 'v24' }, why: 'Asked for.', openSeconds: 0.1 },
    auto: { works: true, device: { kind: 'cpu', name: 'AMD', driver: 'v24' }, why: 'No GPU.', openSeconds: 0.1 },
  },
};

test('a person reads what works, what does not and why, and what auto takes', () => {
  assert.equal(
    describeFindings(findings),
    [
      'versions  halogrid 0.1.0, node 24.0.0',
      'machine   linux x64, 2 cores, 8.0 GiB of memory, 1.0 GiB free',
      'threads   4 for reading and decoding',
      'gpu       no: there is no driver.',
      'cpu       works: AMD, v24; ready in 0.10 s, LBP equal to the CPU twin',
      'auto      takes cpu: No GPU.',
      '',
    ].join('\n'),
  );
});
