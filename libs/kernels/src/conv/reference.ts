import { binOf } from '../kernel/binning.ts';
import { copyBorderedRows, createPixels, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import type { ConvSettings } from './conv.ts';
import { createConvResult, finishConvResult } from './conv-result.ts';

/** The reference of convolution, in float64: exact if the taps are integers. */
export function convReference(
  operation: Operation<ConvSettings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { settings, border, reads = 'u8' } = operation;
  const arithmetic = settings.arithmetic[reads];
  const { side } = arithmetic;
  const halo = (side - 1) / 2;
  const { out, valid } = item;
  const result = createConvResult(operation, item, withMap);
  const { samples, bins, channels } = result;
  const binCount = settings.binning.bins;

  // `valid` with the pixels around it, so that the sums need no border rule.
  const width = valid.width + 2 * halo;
  const height = valid.height + 2 * halo;
  const around = { x: valid.x - halo, y: valid.y - halo, width, height };
  const pixels = createPixels(reads, width * height);
  const sumAt = (taps: Float64Array, x: number, y: number): number => {
    let sum = 0;
    for (let r = 0; r < side; r++) {
      for (let c = 0; c < side; c++) sum += taps[r * side + c]! * pixels[(y + r) * width + x + c]!;
    }
    return sum;
  };
  const valueAt = (x: number, y: number): number => {
    switch (arithmetic.kind) {
      case 'sum':
        return sumAt(arithmetic.taps, x, y) * arithmetic.scale;
      case 'magnitude': {
        const [first, second] = arithmetic.taps;
        return Math.sqrt(sumAt(first, x, y) ** 2 + sumAt(second, x, y) ** 2);
      }
      case 'exact':
        return sumAt(arithmetic.taps, x, y) / 2 ** arithmetic.shift;
    }
  };
  const sampleOf = {
    f32: Math.fround,
    u8: (v: number) => saturate(v, 0, 255),
    i16: (v: number) => saturate(v, -32768, 32767),
  }[settings.as];

  for (let channel = 0; channel < channels; channel++) {
    const source = storedPixels(bytes, item, reads, channel);
    copyBorderedRows(source.pixels, source.plane, border, around, pixels, 0, width);
    for (let y = 0; y < valid.height; y++) {
      let at = (channel * out.height + valid.y - out.y + y) * out.width + valid.x - out.x;
      for (let x = 0; x < valid.width; x++, at++) {
        const sample = sampleOf(valueAt(x, y));
        bins[channel * binCount + binOf(sample, binCount, settings.binning, reads)]!++;
        if (samples) samples[at] = sample;
      }
    }
  }
  return finishConvResult(result, item);
}

/** The nearest integer, halves to the even one, limited to `least` … `most`. */
function saturate(value: number, least: number, most: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  const isUp = rest > 0.5 || (rest === 0.5 && below % 2 !== 0);
  return Math.min(Math.max(below + (isUp ? 1 : 0), least), most);
}
