import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readVarints } from '@halogrid/proto/varints';
import { partsFolder } from '@halogrid/results/shard-place';
import { SourceList } from '@halogrid/results/source-list';
import { documentedDigest } from '@halogrid/results/testing-digest';
import { within } from '@halogrid/testing';
import { pino } from 'pino';
import { FakeCoordinator } from './agent/testing/fake-coordinator.ts';
import { createNodeConfig } from './config.ts';
import { frameLease, lbp, patternImage, referenceOf, withFolder } from './executor/testing/shard-fixture.ts';
import { startNode } from './node.ts';

/** Lines of the log, as they are written. */
const lines: string[] = [];
const log = pino({ name: 'test', base: { name: 'test' } }, { write: (line) => void lines.push(line) });

test('a whole node: leased over gRPC, computed on the cpu, seen in its metrics, stopped by a signal', async () => {
  await withFolder(async (folder) => {
    const size = { width: 50, height: 40 };
    const { file, image } = patternImage(size, 1);
    const uri = await folder.put('a.pgm', file);
    const coordinator = new FakeCoordinator();
    await coordinator.start();
    const stop = new AbortController();
    const options = { coordinator: coordinator.address, device: 'cpu', http: '127.0.0.1:0' };
    let started!: (port: number) => void;
    const port = new Promise<number>((resolve) => {
      started = resolve;
    });
    const config = createNodeConfig(options, 'host', 'abcdef');
    const ended = startNode(config, log, stop.signal, ({ httpPort }) => started(httpPort));
    const at = (path: string) => port.then((number) => fetch(`http://127.0.0.1:${number}${path}`));
    try {
      const session = await coordinator.session(1);
      const { name, nodeId, device, creditBytes, timeZoneData, metricsUrl } = await session.report('hello');
      assert.deepEqual([name, nodeId, device?.kind], ['host-abcd', 'abcdef', 'cpu']);
      assert.equal(timeZoneData, process.versions.tz);
      assert.equal(metricsUrl, `http://127.0.0.1:${await port}`);
      assert.ok(creditBytes >= 4 * 128 * 2 ** 20);

      const operations = [lbp({}, 'mirror'), lbp()];
      session.lease(frameLease(folder, [uri], { pipeline: { operations } }));
      const { results, errors, found } = await session.report('completed');
      const { counted, bins } = referenceOf(operations, image);
      assert.deepEqual([results, errors, found?.found, found?.pixels], [[], [], 1, size.width * size.height]);
      const sums = new Float64Array(256);
      readVarints(found!.parts[0]!.sums, 0, sums);
      assert.deepEqual([found!.parts[0]!.counted, ...sums], [String(counted), ...bins]);
      const list = await SourceList.open(join(folder.path, 'scratch', partsFolder, found!.part!));
      const digest = Buffer.from(documentedDigest(size.width, size.height, counted, [...bins])).toString('hex');
      assert.deepEqual(await Array.fromAsync(list!.lines()), [{ uri, name: '0', ...size, counted, digest }]);

      assert.equal((await at('/readyz')).status, 200);
      const text = await (await at('/metrics')).text();
      for (const line of [
        'halogrid_node_pixels_total{kernel="lbp+lbp"} 2000',
        'halogrid_node_frames_total{kernel="lbp+lbp"} 1',
        'halogrid_node_shards_total{outcome="completed"} 1',
        'halogrid_stage_duration_seconds_count{stage="compute"} 1',
        'halogrid_node_quarantined_total{stage="read"} 0',
        'halogrid_node_quarantined_total{stage="decode"} 0',
        'halogrid_node_attached 1',
        `halogrid_node_info{device="cpu",name="${device?.name}",gpu_uuid="",pci_bus_id=""} 1`,
        'halogrid_node_leases 0',
        'halogrid_inflight_bytes 0',
        'halogrid_gpu_device_lost_total{device="cpu"} 0',
      ]) {
        assert.ok(text.includes(`${line}\n`), line);
      }
      assert.match(text, /halogrid_gpu_busy_seconds_total\{device="cpu"\} \d/);

      stop.abort('SIGTERM');
      await session.closedByNode();
      assert.deepEqual(await within('the end of the node', ended), {
        code: 0,
        reason: 'SIGTERM was received',
        hasWorkLeft: false,
      });
      assert.ok(lines.length > 0);
      // A field that is written twice would be there once after parsing.
      for (const line of lines) assert.equal(`${JSON.stringify(JSON.parse(line))}\n`, line);
    } finally {
      stop.abort('SIGTERM');
      await within('the end of the node', ended);
      coordinator.close();
    }
  });
});

test('a node is not ready before a coordinator has welcomed it, and can be stopped', async () => {
  const stop = new AbortController();
  const config = createNodeConfig({ coordinator: '127.0.0.1:1', device: 'cpu', http: '127.0.0.1:0' });
  let started!: (port: number) => void;
  const port = new Promise<number>((resolve) => {
    started = resolve;
  });
  const ended = startNode(config, log, stop.signal, ({ httpPort }) => started(httpPort));
  const ready = await fetch(`http://127.0.0.1:${await within('the node to serve', port)}/readyz`);
  assert.equal(ready.status, 503);
  assert.equal(await ready.text(), 'No coordinator leases shards to this node yet\n');
  stop.abort('SIGINT');
  assert.deepEqual(await within('the end of the node', ended), {
    code: 0,
    reason: 'SIGINT was received',
    hasWorkLeft: false,
  });
});

test('a draining node is not ready, and an idle one ends by itself if it may', async () => {
  await withFolder(async (folder) => {
    const { file } = patternImage({ width: 50, height: 40 }, 1);
    const uri = await folder.put('a.pgm', file);
    const coordinator = new FakeCoordinator();
    await coordinator.start();
    const stop = new AbortController();
    const address = { coordinator: coordinator.address, device: 'cpu', http: '127.0.0.1:0' };
    const config = createNodeConfig({ ...address, idleExitMs: 1000 });
    const started = Promise.withResolvers<number>();
    const ended = startNode(config, log, stop.signal, ({ httpPort }) => started.resolve(httpPort));
    try {
      const session = await coordinator.session(1);
      session.lease(frameLease(folder, [uri], { pipeline: { operations: [lbp()] } }));
      await session.report('completed');
      // The coordinator does not answer, so that the node goes on draining.
      session.answers = false;
      await session.report('draining');
      const ready = await fetch(`http://127.0.0.1:${await started.promise}/readyz`);
      const reason = 'It had no shard for 1 s (--idle-exit)';
      assert.deepEqual(
        [ready.status, await ready.text()],
        [503, `The node finishes its shards and takes no more: ${reason}\n`],
      );
      session.send({ $case: 'drain', value: {} });
      assert.deepEqual(await within('the end of the node', ended), { code: 0, reason, hasWorkLeft: false });
    } finally {
      stop.abort('SIGTERM');
      coordinator.close();
    }
  });
});

test('an address in use is reported in one sentence', async () => {
  const coordinator = new FakeCoordinator();
  await coordinator.start();
  const config = createNodeConfig({ coordinator: 'localhost:1', device: 'cpu', http: coordinator.address });
  await assert.rejects(
    startNode(config, log, new AbortController().signal),
    /^Error: Cannot listen on .* with --http$/,
  );
  coordinator.close();
});
