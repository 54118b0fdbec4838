import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeFindings, type Findings } from './findings.ts';

const findings: Findings = {
  versions: { halogrid: '0.1.0', node: '24.0.0' },
  machine: { platform: 'linux x64', cores: 2, memoryBytes: 8 * 2 ** 30, freeBytes: 2 ** 30, poolThreads: 4 },
  gpus: {
    visible: [
      { busId: '0000:0f:00.0', uuid: 'GPU-5ba2c9f1', model: 'NVIDIA H200', minor: 1 },
      { busId: '0000:2d:00.0', uuid: undefined, model: 'NVIDIA H200', minor: 0 },
    ],
    hidden: [{ busId: '0000:44:00.0', uuid: 'GPU-e1f0a7d2', model: 'NVIDIA H200', minor: 2 }],
  },
  devices: {
    gpu: { works: false, reason: "The device 'gpu' is not available: there is no driver." },
    cpu: { works: true, device: { kind: 'cpu', name: 'AMD', driver: 'v24' }, why: 'Asked for.', openSeconds: 0.1 },
    auto: { works: true, device: { kind: 'cpu', name: 'AMD', driver: 'v24' }, why: 'No GPU.', openSeconds: 0.1 },
  },
  videos: { works: true, ffmpeg: '8.1', path: '/lib/node-av.node' },
  jpegs: { works: true, version: '3.1.3', path: '/lib/libturbojpeg.so.0' },
  slides: { works: true, openslide: '3.4.1', library: 'libopenslide.so.0' },
  space: [
    { what: 'results', path: '/data/halogrid-out', freeBytes: 5 * 2 ** 30, canWrite: true },
    { what: 'ledger', path: '/home/u', freeBytes: 2 ** 20, canWrite: false },
  ],
  ports: [
    { port: 7070, of: 'the gRPC of a coordinator', by: undefined },
    { port: 9464, of: 'the console of a coordinator', by: 'another program' },
  ],
  settings: [{ path: '/data/halogrid.toml', isThere: true }],
};

test('a person reads what works, what does not and why, and what auto takes', () => {
  assert.equal(
    describeFindings(findings),
    [
      'versions  halogrid 0.1.0, node 24.0.0',
      'machine   linux x64, 2 cores, 8.0 GiB of memory, 1.0 GiB free',
      'threads   4 for reading and decoding',
      'GPU 0     NVIDIA H200, GPU-5ba2c9f1, 0000:0f:00.0, /dev/nvidia1',
      'GPU 1     NVIDIA H200, its UUID is known once it was opened, 0000:2d:00.0, /dev/nvidia0',
      'GPU       NVIDIA H200, GPU-e1f0a7d2, 0000:44:00.0, /dev/nvidia2; this process is not allowed to open it',
      'gpu       no: there is no driver.',
      'cpu       works: AMD, v24; ready in 0.10 s, LBP equal to the CPU twin',
      'auto      takes cpu: No GPU.',
      'videos    work: FFmpeg 8.1, /lib/node-av.node',
      'JPEGs     work: libjpeg-turbo 3.1.3, /lib/libturbojpeg.so.0',
      'slides    work: OpenSlide 3.4.1, libopenslide.so.0',
      'space     results: 5.37 GB free in /data/halogrid-out',
      'space     ledger: 1.05 MB free in /home/u, but this user cannot write there',
      'port      7070: free, for the gRPC of a coordinator',
      'port      9464: taken by another program; it is for the console of a coordinator',
      'settings  /data/halogrid.toml, read',
      '',
    ].join('\n'),
  );
});
