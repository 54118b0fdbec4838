import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPipeline } from '../pipeline/pipeline.ts';
import { samplesOf, staged } from '../testing/index.ts';
import { oracleRuns, readGray, readOracle, sha256, whyLeftOut } from '../testing/oracle.ts';

interface LdpResults {
  ldp: { order: number; border: string; map_sha256: string; histograms: number[][] }[];
}

for (const expected of readOracle<LdpResults>()) {
  describe(expected.name, async () => {
    const image = await readGray(expected);
    const skip = whyLeftOut(expected);
    if (skip) return test('every case', { skip });
    for (const { order, border, map_sha256, histograms } of expected.ldp) {
      for (const [name, run] of Object.entries(oracleRuns(expected))) {
        test(`${name}: order ${order}, ${border}`, () => {
          const pipeline = createPipeline([{ kernel: 'ldp', parameters: { order: String(order) }, border }]);
          const { item, bytes } = staged(pipeline, image);
          const result = run(pipeline, bytes, item, true);
          assert.deepEqual([...result.bins], histograms.flat());
          assert.equal(sha256(samplesOf(pipeline, result, image)), map_sha256);
        });
      }
    }
  });
}
