// A node in a process of its own. It answers leases of small frames at once, without pixels, and writes parts as nodes
// do. Its argument is its name. It reads ports of coordinators on loopback from stdin, a line each, and attaches to the
// newest. It prints a line when a coordinator leases it the first shard.
import { createInterface } from 'node:readline';
import { credentials } from '@grpc/grpc-js';
import { type AttachRequest, Hello, type Lease, NodesClient, protocolVersion, splitAnswer } from '@halogrid/proto';
import { writeChunk } from '@halogrid/results';
import type { FoundShard } from '@halogrid/results/found-shard';
import { PartThread } from '@halogrid/results/part-thread';
import { resultsVersion } from '@halogrid/service';
import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';
import { openJobParts } from '../../../apps/gpu-node/src/parts/job-parts.ts';
import { NodeParts } from '../../../apps/gpu-node/src/parts/node-parts.ts';

const [width, height] = [320, 240];
const counted = (width - 2) * (height - 2);
const rect = { x: 0, y: 0, width, height };
/** A thousand different histograms, as uneven as the histograms of photographs. */
const histograms = Array.from({ length: 1000 }, (_, seed) => {
  const bins = new Uint32Array(256);
  let left = counted;
  for (let bin = 0; bin < 255; bin++) {
    const share = Math.floor((left * (((bin * 37 + seed * 11) % 29) + 1)) / 900);
    bins[(bin * 91) % 256] = share;
    left -= share;
  }
  bins[(255 * 91) % 256] = left;
  return bins;
});

async function writePreview(scratch: string, source: number): Promise<void> {
  const chunk = { scratch, source, size: { width, height }, rect, type: { sample: 'u8' as const, bands: 1 } };
  const samples = { bytes: new Uint8Array(width * height), strideBytes: width, bandBytes: width * height };
  for (const kind of ['preview', 'sums'] as const) await writeChunk({ ...chunk, kind }, samples);
}

function shardOf(block: Uint8Array, sources: readonly BlockSource[]): FoundShard {
  const { length } = sources;
  const bins = new Uint32Array(256 * length);
  for (const [i, { index }] of sources.entries()) bins.set(histograms[index % 1000]!, 256 * i);
  return {
    block,
    found: Uint32Array.from(sources.keys()),
    widths: new Uint32Array(length).fill(width),
    heights: new Uint32Array(length).fill(height),
    parts: [{ counted: new Float64Array(length).fill(counted), bins }],
  };
}

const creditBytes = 2 ** 30;
const thread = new PartThread();

function attach(port: string, name: string): NodesClient {
  const client = new NodesClient(`127.0.0.1:${port}`, credentials.createInsecure());
  const call = client.attach();
  const say = (report: AttachRequest['report']): void => void call.write({ report });
  const device = { kind: 'cpu', name: 'none', driver: '' };
  const versions = { protocol: protocolVersion, resultsVersion };
  say({ $case: 'hello', value: Hello.fromPartial({ nodeId: name, name, ...versions, device, creditBytes }) });
  const parts = new NodeParts((lease) => openJobParts(thread, lease));
  const answer = async (lease: Lease): Promise<void> => {
    const { jobId, shard, attempt, epoch, work, scratch, sources: block } = lease;
    if (work?.$case !== 'frames') throw new Error('Expected frames');
    const held = parts.hold(lease);
    const sources = [...new SourceBlock(block)];
    for (const { index, preview } of sources) if (preview) await writePreview(scratch, index);
    const { found } = await held.keep(shardOf(block, sources), () =>
      say({ $case: 'inPart', value: { jobId, shard, attempt, epoch } }),
    );
    held.release();
    const rest = { results: [], errors: [], stageSeconds: { decode: 1 }, busySeconds: {}, inputBytes: 1 };
    for (const report of splitAnswer({ jobId, shard, attempt, epoch, found, ...rest })) say(report);
  };
  let isLeased = false;
  call.on('data', ({ order }) => {
    if (order?.$case === 'lease') {
      if (!isLeased) process.stdout.write('leased\n');
      isLeased = true;
      void answer(order.value);
    }
    if (order?.$case !== 'probe') return;
    const { probe, files } = order.value;
    const seen = files.map(() => ({ version: 'x', sha256: Buffer.alloc(32), error: '' }));
    say({ $case: 'sight', value: { probe, files: seen, error: '' } });
  });
  call.on('error', () => {});
  return client;
}

let client: NodesClient | undefined;
for await (const port of createInterface({ input: process.stdin })) {
  client?.close();
  client = attach(port, process.argv[2]!);
}
process.exit();
