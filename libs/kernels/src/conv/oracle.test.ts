import { describe, test } from 'node:test';
import { createPipeline } from '../pipeline/pipeline.ts';
import { samplesOf, staged } from '../testing/index.ts';
import { oracleRuns, readGray, readOracle, whyLeftOut } from '../testing/oracle.ts';
import { checkConvolution, type ExpectedConv } from './testing/check-convolution.ts';

for (const expected of readOracle<{ conv: ExpectedConv[] }>()) {
  describe(expected.name, async () => {
    const image = await readGray(expected);
    const skip = whyLeftOut(expected);
    if (skip) return test('every case', { skip });
    for (const conv of expected.conv) {
      for (const [name, run] of Object.entries(oracleRuns)) {
        test(`${name}: ${conv.kernel}, ${conv.border}`, () => {
          const pipeline = createPipeline([
            { kernel: 'conv', parameters: { kernel: conv.kernel }, border: conv.border },
          ]);
          const { item, bytes } = staged(pipeline, image);
          checkConvolution(samplesOf(pipeline, run(pipeline, bytes, item, true), image), image, conv);
        });
      }
    }
  });
}
