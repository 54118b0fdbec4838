import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseOperation } from '@halogrid/kernels';
import { isThorough } from '@halogrid/testing';
import { Cluster, type ServingCluster } from './cluster.ts';
import { type Expected, type OracleCase, oracleCases, oracleImages, oracleNames } from './oracle-cases.ts';
import { type Bands, readBands } from './read-map.ts';
import { readChannels, readJson, sha256 } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';
import { sharedCluster } from './shared-cluster.ts';

/**
 * Every n-th case is tested here, because SwiftShader takes a third of a second to compile each. libs/kernels always
 * tests all cases.
 */
const everyNth = { cpu: isThorough ? 4 : 17, software: isThorough ? 17 : 51, gpu: 1 };

// The devices work side by side.
describe('the oracle', { concurrency: 3 }, () => {
  const folder = scratchFolder();
  const names = oracleNames();
  const cases = oracleCases();

  // One job with all images: the dense result of each, and the sum of their histograms.
  for (const device of ['cpu', 'software', 'gpu'] as const) {
    describe(device, { skip: device === 'gpu' && !process.env.HALOGRID_TEST_GPU && 'set HALOGRID_TEST_GPU=1' }, () => {
      let cluster: ServingCluster;
      before(async () => {
        cluster = await (device === 'gpu' ? Cluster.start({ nodes: 1, device }) : sharedCluster(device));
      });
      after(() => cluster.stop());

      for (const [i, one] of cases.entries()) {
        if (i % everyNth[device] !== 0) continue;
        test(one.name, async () => {
          const out = join(folder, `${device}-${i}`);
          const { border } = one;
          await cluster.jobs.run({
            sources: [oracleImages],
            out,
            operations: [parseOperation(one.op)],
            border,
            map: 'tiff',
          });
          for (const [k, expected] of one.expected.entries()) {
            checkMap(await readBands(join(out, 'maps', `${names[k]}.tif`)), expected, names[k]!);
          }
          checkSum(out, one);
        });
      }
    });
  }
});

function checkMap(map: Bands, expected: Expected, name: string): void {
  if (expected.kind === 'exact') {
    const { buffer, byteOffset, byteLength } = map.samples;
    assert.equal(sha256(new Uint8Array(buffer, byteOffset, byteLength)), expected.mapSha256, name);
    return;
  }
  for (const [y, row] of expected.crop.entries()) {
    for (const [x, wanted] of row.entries()) {
      const got = map.samples[y * map.width + x]!;
      const where = `${name} (${x}, ${y}): ${got} instead of ${wanted}`;
      if (wanted === null) assert.ok(Number.isNaN(got), where);
      else {
        const tolerance = expected.kind === 'real' ? expected.absolute : expected.relative * Math.abs(wanted);
        assert.ok(Math.abs(got - wanted) <= tolerance, where);
      }
    }
  }
  if (expected.kind === 'real') {
    const values = Float64Array.from(map.samples);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const l2 = Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);
    // The mean of an edge operator may be 0, apart from the rounding of a float64 sum.
    assert.ok(Math.abs(mean - expected.mean) <= 1e-6 * Math.abs(expected.mean) + 1e-9, `${name}: mean ${mean}`);
    assert.ok(Math.abs(l2 - expected.l2) <= 1e-6 * expected.l2, `${name}: root mean square ${l2}`);
  }
}

/** Checks that the job's histogram is the sum of its images' histograms. */
function checkSum(out: string, { op, expected }: OracleCase): void {
  const { counted, channels } = readChannels(out);
  const exact = expected.flatMap((one) => (one.kind === 'exact' ? [one.histograms] : []));
  const means = expected.flatMap((one) => (one.kind === 'real' ? [one.mean] : []));
  if (means.length > 0) {
    checkMean(out, means);
    return;
  }
  if (exact.length === 0) {
    assert.ok(channels.every(({ bins }) => bins.length === 0));
    return;
  }
  for (const [c, { bins }] of channels.entries()) {
    const sums = exact[0]![c]!.map((_, bin) => exact.reduce((sum, histograms) => sum + histograms[c]![bin]!, 0));
    assert.deepEqual(bins, sums, `channel ${c}`);
    // Matrices of co-occurrence count as many pairs as their offsets have; the first one's are the job's.
    if (c > 0 && op.startsWith('glcm')) continue;
    assert.equal(
      counted,
      sums.reduce((sum, count) => sum + count, 0),
    );
  }
}

/**
 * Checks that every value is in a bin, and that the mean of the bins is within half a bin of the mean of all images.
 */
function checkMean(out: string, means: number[]): void {
  const { counted, width, channels } = readJson(out, 'histogram.json');
  const pixels: number[] = readJson(out, 'job.json').sources.map((source: { counted: number }) => source.counted);
  const sum = pixels.reduce((total, count, i) => total + count * means[i]!, 0);
  const [{ bins, statistics }] = channels;
  assert.equal(
    counted,
    bins.reduce((total: number, count: number) => total + count, 0),
  );
  assert.ok(Math.abs(statistics.mean - sum / counted) <= width / 2, `mean ${statistics.mean}, not ${sum / counted}`);
}
