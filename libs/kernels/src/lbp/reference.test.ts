import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { borderIndex, borderModes } from '../border.ts';
import { planRead } from '../halo.ts';
import { createPipeline } from '../pipeline.ts';
import { placeItem } from '../plane-item.ts';
import { runReference } from '../reference.ts';
import { lbpConventions } from './lbp.ts';

const image = fc
  .tuple(fc.integer({ min: 1, max: 24 }), fc.integer({ min: 1, max: 24 }), fc.constantFrom(1, 3, 255))
  .chain(([width, height, levels]) =>
    fc.record({
      width: fc.constant(width),
      height: fc.constant(height),
      // Few levels make ties, which are where implementations differ.
      pixels: fc.uint8Array({ minLength: width * height, maxLength: width * height, max: levels }),
    }),
  );

test('codes and counts are those of the definition, pixel by pixel, for whole images', () => {
  fc.assert(
    fc.property(
      image,
      fc.constantFrom(...borderModes),
      fc.constantFrom(...lbpConventions),
      ({ width, height, pixels }, border, convention) => {
        const pipeline = createPipeline([{ kernel: 'lbp', parameters: { convention } }], border);
        const size = { width, height };
        const { item, end } = placeItem(planRead({ x: 0, y: 0, ...size }, size, 1, border), 0);
        const bytes = new Uint8Array(end);
        for (let y = 0; y < height; y++) {
          bytes.set(pixels.subarray(y * width, (y + 1) * width), item.offset + y * item.stride);
        }
        const result = runReference(pipeline, bytes, item, true);

        const pixel = (x: number, y: number) => {
          const [bx, by] = [borderIndex(x, width, border), borderIndex(y, height, border)];
          return bx < 0 || by < 0 ? 0 : pixels[by * width + bx]!;
        };
        const bins = new Array(256).fill(0);
        let counted = 0;
        for (let y = 0; y < height; y++) {
          for (let x = 0; x < width; x++) {
            const outside = x === 0 || y === 0 || x === width - 1 || y === height - 1;
            const code = border === 'interior' && outside ? -1 : definition(pixel, x, y, convention);
            assert.equal(result.map![y * result.mapStride! + x], Math.max(code, 0));
            if (code < 0) continue;
            bins[code]++;
            counted++;
          }
        }
        assert.deepEqual([...result.bins], bins);
        assert.equal(result.counted, counted);
      },
    ),
    { numRuns: 500 },
  );
});

/** The sentence of the literature, bit by bit: "NW N NE E SE S SW W are bits 7 … 0" (or 0 … 7); 1 where >= centre. */
function definition(pixel: (x: number, y: number) => number, x: number, y: number, convention: string): number {
  const c = pixel(x, y);
  const ring = [
    pixel(x - 1, y - 1) >= c,
    pixel(x, y - 1) >= c,
    pixel(x + 1, y - 1) >= c,
    pixel(x + 1, y) >= c,
    pixel(x + 1, y + 1) >= c,
    pixel(x, y + 1) >= c,
    pixel(x - 1, y + 1) >= c,
    pixel(x - 1, y) >= c,
  ];
  const digits = ring.map((bit) => (bit ? '1' : '0'));
  return Number.parseInt((convention === 'nw-cw-msb' ? digits : digits.reverse()).join(''), 2);
}
