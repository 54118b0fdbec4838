// Arbitraries for tests of the library: pictures of every layout, and kernels.
import fc from 'fast-check';
import { borderModes } from '../../kernel/border.ts';
import type { AskedOperation } from '../../kernel/operation.ts';
import { parseOperation } from '../../pipeline/pipeline.ts';
import { noise } from '../../testing/index.ts';
import type { Border, Picture } from '../types.ts';

/** Pictures of noise of at most `most` pixels a side, gray, RGB or RGBA, of 8 or 16 bits; few levels make ties. */
export const pictureArbitrary = (most = 40): fc.Arbitrary<Picture> => {
  const side = fc.integer({ min: 5, max: most });
  const layout = { step: fc.constantFrom(1, 3, 4), type: fc.constantFrom(Uint8Array, Uint8ClampedArray, Uint16Array) };
  return fc
    .record({ ...layout, width: side, height: side, seed: fc.integer(), levels: fc.constantFrom(1, 2, 4, 256) })
    .map(({ step, type, width, height, seed, levels }) => {
      const samples = noise(width * height * step, seed, levels);
      if (type === Uint16Array) return { data: Uint16Array.from(samples, (value) => 257 * value), width, height };
      return { data: type.from(samples), width, height };
    });
};

/** Pipelines as texts, and as parsed operations. */
interface Operations {
  texts: string[];
  border: Border;
  asked: AskedOperation[];
}

const pipelines = [
  ['lbp'],
  ['lbp:convention=nw-cw-lsb,labels=uniform'],
  ['lbp:points=12,radius=1.5'],
  ['lbp:points=20,radius=2,labels=all'],
  ['ldp'],
  ['ldp:order=2'],
  ['glcm:levels=20,offsets=1@0+9@135,symmetric=true'],
  ['conv:kernel=sobel,as=u8'],
  ['conv:kernel=log-5,as=i16,channels=rgb'],
  ['conv:kernel=gaussian-5,as=u8', 'lbp:points=16,radius=2,labels=ror'],
  ['conv:kernel=sharpen-3,as=u8,channels=rgb', 'conv:kernel=sobel-x,as=u8,channels=rgb'],
];

/** Pipelines whose results are integers, with one border for all kernels. */
export const operationsArbitrary: fc.Arbitrary<Operations> = fc
  .record({ texts: fc.constantFrom(...pipelines), border: fc.constantFrom(...borderModes) })
  .map(({ texts, border }) => ({ texts, border, asked: texts.map((text) => ({ ...parseOperation(text), border })) }));
