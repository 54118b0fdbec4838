import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { runCpu } from '../cpu.ts';
import { noOracle, readGray, readOracle, sha256 } from '../oracle.ts';
import { createPipeline } from '../pipeline.ts';
import { runReference } from '../reference.ts';
import { samplesOf, staged } from '../testing.ts';

if (noOracle) test('the oracle', { skip: noOracle });

interface LdpResults {
  ldp: { order: number; border: string; map_sha256: string; histograms: number[][] }[];
}

const runs = { twin: runReference, cpu: runCpu };

for (const expected of readOracle<LdpResults>()) {
  describe(expected.name, async () => {
    const image = await readGray(expected);
    for (const { order, border, map_sha256, histograms } of expected.ldp) {
      for (const [name, run] of Object.entries(runs)) {
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
