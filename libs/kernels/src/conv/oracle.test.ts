import { describe, test } from 'node:test';
import { runCpu } from '../cpu.ts';
import { noOracle, readGray, readOracle } from '../oracle.ts';
import { createPipeline } from '../pipeline.ts';
import { runReference } from '../reference.ts';
import { samplesOf, staged } from '../testing.ts';
import { checkConvolution, type ExpectedConv } from './testing.ts';

if (noOracle) test('the oracle', { skip: noOracle });

const runs = { twin: runReference, cpu: runCpu };

for (const expected of readOracle<{ conv: ExpectedConv[] }>()) {
  describe(expected.name, async () => {
    const image = await readGray(expected);
    for (const conv of expected.conv) {
      for (const [name, run] of Object.entries(runs)) {
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
