import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { runReference } from './reference.ts';
import { createPipelineOver, samplesOf, staged } from './testing/index.ts';

// The pictures in the docs that explain LBP and LDP show the numbers that the kernels return.

const ring = readFileSync(new URL('../../../docs/images/lbp-ring.svg', import.meta.url), 'utf8');
const derivatives = readFileSync(new URL('../../../docs/images/ldp-derivatives.svg', import.meta.url), 'utf8');

/** The text of an element, or the texts of a group's elements. */
function texts(svg: string, id: string): string[] {
  const inside = new RegExp(`<(\\w+)[^>]* id="${id}"[^>]*>(.*?)</\\1>`, 's').exec(svg)![2]!;
  return [...inside.matchAll(/[^<>\s]+(?=<)|^[^<]+$/g)].map(([text]) => text.replace('−', '-'));
}
const numbers = (svg: string, id: string): number[] => texts(svg, id).map(Number);

/** The codes of the middle pixel of a square, one per band. */
function codesInMiddle(kernel: string, parameters: Record<string, string>, pixels: readonly number[]): number[] {
  const side = Math.sqrt(pixels.length);
  const pipeline = createPipelineOver('u8', [{ kernel, parameters }]);
  const size = { width: side, height: side };
  const { item, bytes } = staged(pipeline, { ...size, pixels: Uint8Array.from(pixels) });
  const samples = samplesOf(pipeline, runReference(pipeline, bytes, item, true), size);
  return pipeline.output.channels.map((_, band) => samples[band * side ** 2 + (side ** 2 - 1) / 2]!);
}

const inBits = (code: number): string => code.toString(2).padStart(8, '0');

test('the picture of the ring shows the code that lbp returns for its pixels', () => {
  const [code] = codesInMiddle('lbp', {}, numbers(ring, 'pixels'));
  assert.deepEqual(numbers(ring, 'code'), [code]);
  assert.deepEqual(texts(ring, 'bits'), [inBits(code!)]);
});

test('the picture of derivatives shows the codes that ldp returns for its pixels', () => {
  const pixels = numbers(derivatives, 'pixels');
  const codes = codesInMiddle('ldp', { order: '2' }, pixels);
  const middle = [6, 7, 8, 11, 12, 13, 16, 17, 18];
  const neighbours = { 0: 1, 45: -4, 90: -5, 135: -6 };
  for (const [i, [direction, step]] of Object.entries(neighbours).entries()) {
    const differences = middle.map((at) => pixels[at]! - pixels[at + step]!);
    assert.deepEqual(numbers(derivatives, `derivatives-${direction}`), differences);
    assert.deepEqual(numbers(derivatives, `code-${direction}`), [codes[i]]);
    assert.deepEqual(texts(derivatives, `bits-${direction}`), [inBits(codes[i]!)]);
  }
});
