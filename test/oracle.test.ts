import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Cluster } from './cluster.ts';
import { type Border, borders, type Convention, conventions } from './lbp-definition.ts';
import { readHistogram, readJson, readMap, sha256 } from './results.ts';
import { scratchFolder } from './scratch-folder.ts';

// Images with results that another program computed, beside the checkout.
const oracle = fileURLToPath(new URL('../../shared/oracle', import.meta.url));

interface Expected {
  name: string;
  file: string;
  width: number;
  height: number;
  of(convention: Convention, border: Border): { map_sha256: string; histogram: number[] };
}

const skip = existsSync(oracle) ? false : `there is no folder ${oracle} with images and their expected results`;

if (skip) test('the oracle', { skip });

// The clusters work side by side.
describe('the oracle', { skip, concurrency: 2 }, () => {
  const folder = scratchFolder();
  const images = join(oracle, 'images');
  const expected = skip ? [] : readExpected();
  let cpu: Cluster;
  let software: Cluster;

  before(async () => {
    [cpu, software] = await Promise.all([
      Cluster.start({ nodes: 2, device: 'cpu' }),
      Cluster.start({ nodes: 1, device: 'software' }),
    ]);
  });
  after(() => Promise.all([cpu.stop(), software.stop()]));

  for (const convention of conventions) {
    for (const border of borders) {
      test(`cpu: histograms and maps of all images, ${convention}, ${border}`, async () => {
        await checkMapsAndSum(cpu, convention, border);
        for (const image of expected) {
          const out = join(folder, `${image.name}-${convention}-${border}`);
          await cpu.jobs.run({ sources: [image.file], out, convention, border });
          assert.deepEqual(readHistogram(out).bins, image.of(convention, border).histogram, image.name);
        }
      });
    }
  }

  // Each border once, and each convention in three of them: the first job of a variant waits for its shader.
  borders.forEach((border, i) => {
    const convention = conventions[i % conventions.length]!;
    test(`software: histograms and maps of all images, ${convention}, ${border}`, async () => {
      await checkMapsAndSum(software, convention, border);
    });
  });

  /** One job of all images: the map of each, and the sum of their histograms. */
  async function checkMapsAndSum(cluster: Cluster, convention: Convention, border: Border): Promise<void> {
    const out = join(folder, `${cluster === cpu ? 'cpu' : 'software'}-${convention}-${border}`);
    const what = ['--op', `lbp:convention=${convention}`, '--border', border, '--map', 'tiff', '--out', out];
    const { code, stderr } = await cluster.halogrid(['run', images, ...what]);
    assert.equal(code, 0, stderr);
    const results = expected.map((image) => image.of(convention, border));
    for (const [i, { name, width, height }] of expected.entries()) {
      const map = await readMap(join(out, 'maps', `${name}.tif`));
      assert.deepEqual([map.width, map.height], [width, height], name);
      assert.equal(sha256(map.codes), results[i]!.map_sha256, name);
    }
    const { counted, bins } = readHistogram(out);
    const sums = bins.map((_, code) => results.reduce((sum, { histogram }) => sum + histogram[code]!, 0));
    assert.deepEqual(bins, sums);
    assert.equal(
      counted,
      sums.reduce((sum, count) => sum + count),
    );
  }
});

function readExpected(): Expected[] {
  return readdirSync(join(oracle, 'expected')).map((file) => {
    const { image, width, height, square_lbp: results } = readJson(oracle, 'expected', file);
    return {
      name: file.replace(/\.json$/, ''),
      file: join(oracle, 'images', image),
      width,
      height,
      of(convention, border) {
        return results.find((r: { bit_order: string; border: string }) => {
          return r.bit_order === convention && r.border === border;
        });
      },
    };
  });
}
