import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPipeline } from '../pipeline/pipeline.ts';
import { samplesOf, staged } from '../testing/index.ts';
import { oracleRuns, readGray, readOracle, sha256, whyLeftOut } from '../testing/oracle.ts';

interface GlcmResults {
  glcm: { levels: number; offsets: string[]; symmetric: boolean; map_sha256: string; matrices: number[][] }[];
}

for (const expected of readOracle<GlcmResults>()) {
  describe(expected.name, async () => {
    const image = await readGray(expected);
    const skip = whyLeftOut(expected);
    if (skip) return test('every case', { skip });
    for (const { levels, offsets, symmetric, map_sha256, matrices } of expected.glcm) {
      for (const [name, run] of Object.entries(oracleRuns(expected))) {
        test(`${name}: ${levels} levels, ${offsets.join(' ')}${symmetric ? ', symmetric' : ''}`, () => {
          const parameters = { levels: `${levels}`, offsets: offsets.join('+'), symmetric: `${symmetric}` };
          const pipeline = createPipeline([{ kernel: 'glcm', parameters }]);
          const { item, bytes } = staged(pipeline, image);
          const result = run(pipeline, bytes, item, true);
          assert.deepEqual([...result.bins], matrices.flat());
          assert.equal(sha256(samplesOf(pipeline, result, image)), map_sha256);
        });
      }
    }
  });
}
