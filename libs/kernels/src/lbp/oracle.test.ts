import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPipeline } from '../pipeline/pipeline.ts';
import { samplesOf, staged, type TestImage } from '../testing/index.ts';
import { oracleRuns, readGray, readOracle, sha256, whyLeftOut } from '../testing/oracle.ts';

/** The result of scikit-image's definition for an image, with scikit-image's names of parameters, keys and labels. */
interface ExpectedLbp {
  P: number;
  R: number;
  method: 'default' | 'ror' | 'uniform' | 'nri_uniform' | 'var';
  map_sha256: string;
  /** Counts of the labels that occur. */
  histogram: Record<string, number>;
  /** The variances of `var` in rows and columns 0 … 31, null for NaN. */
  crop32: (number | null)[][];
}

/** Codes of the 3x3 square. */
interface ExpectedSquare {
  bit_order: string;
  border: string;
  map_sha256: string;
  histogram: number[];
}

interface LbpResults {
  lbp: ExpectedLbp[];
  square_lbp: ExpectedSquare[];
}

for (const expected of readOracle<LbpResults>()) {
  describe(expected.name, async () => {
    const image = await readGray(expected);

    test('the luma plane equals the one that scikit-image measured', () => {
      assert.equal(sha256(image.pixels), expected.gray.sha256);
    });

    const skip = whyLeftOut(expected);
    if (skip) return test('every case', { skip });
    for (const [name, run] of Object.entries(oracleRuns(expected))) {
      const compute = (parameters: Record<string, string>, border?: string) => {
        const pipeline = createPipeline([{ kernel: 'lbp', parameters, border }]);
        const { item, bytes } = staged(pipeline, image);
        const result = run(pipeline, bytes, item, true);
        return { result, samples: samplesOf(pipeline, result, image) };
      };

      for (const lbp of expected.lbp) {
        test(`${name}: scikit-image's definition, P=${lbp.P} R=${lbp.R} ${lbp.method}`, () => {
          const { result, samples } = compute({
            convention: 'scikit-image',
            points: String(lbp.P),
            radius: String(lbp.R),
            labels: lbp.method === 'default' ? 'all' : lbp.method.replace('_', '-'),
          });
          if (lbp.method === 'var') {
            checkVariances(samples as Float32Array, image, lbp);
            return;
          }
          assert.equal(sha256(samples), lbp.map_sha256);
          const counts = [...result.bins.entries()].filter(([, count]) => count > 0);
          assert.deepEqual(Object.fromEntries(counts), lbp.histogram);
        });
      }

      for (const square of expected.square_lbp) {
        test(`${name}: the 3x3 square, ${square.bit_order}, ${square.border}`, () => {
          const { result, samples } = compute({ convention: square.bit_order }, square.border);
          assert.equal(sha256(samples), square.map_sha256);
          assert.deepEqual([...result.bins], square.histogram);
        });
      }
    }
  });
}

/** Checks variances to within 1e-4 of scikit-image's float64. */
function checkVariances(samples: Float32Array, { width }: TestImage, { crop32 }: ExpectedLbp): void {
  crop32.forEach((row, y) => {
    row.forEach((theirs, x) => {
      const ours = samples[y * width + x]!;
      if (theirs === null) assert.ok(Number.isNaN(ours), `${ours} at ${x}, ${y}`);
      else assert.ok(Math.abs(ours - theirs) <= 1e-4 * theirs, `${ours} is not ${theirs} at ${x}, ${y}`);
    });
  });
}
