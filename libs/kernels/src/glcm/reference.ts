import { createSamples, greatest } from '@halogrid/geometry';
import { copyBorderedRows, createPixels, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import { countedPairs, pairedPixels } from '../kernel/pairs.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import type { GlcmSettings } from './parameters.ts';

/**
 * The reference of glcm.wgsl: a band of codes and a matrix for each offset of one item. Transposes are added to
 * symmetric matrices for all devices alike, by the pipeline.
 */
export function glcmReference(
  { settings, border, halo, output, reads = 'u8' }: Operation<GlcmSettings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { levels, steps } = settings;
  const { out, valid } = item;
  const stride = valid.width + 2 * halo;
  const around = { x: valid.x - halo, y: valid.y - halo, width: stride, height: valid.height + 2 * halo };
  const { pixels, plane } = storedPixels(bytes, item, reads);
  const source = createPixels(reads, stride * around.height);
  copyBorderedRows(pixels, plane, border, around, source, 0, stride);
  const levelAt = (x: number, y: number): number => {
    const value = source[(y - around.y) * stride + x - around.x]!;
    return Math.floor((value * levels) / (greatest[reads] + 1));
  };

  const bins = new Uint32Array(levels ** 2 * steps.length);
  const map = createSamples(output.sample, withMap ? out.width * out.height * steps.length : 0);
  for (const [band, step] of steps.entries()) {
    const { x: left, y: top, width, height } = pairedPixels(item, step, border);
    for (let y = top; y < top + height; y++) {
      for (let x = left; x < left + width; x++) {
        const code = levelAt(x, y) * levels + levelAt(x + step.x, y + step.y);
        bins[band * levels ** 2 + code]!++;
        map[(band * out.height + y - out.y) * out.width + x - out.x] = code;
      }
    }
  }
  const unit = map.BYTES_PER_ELEMENT;
  return {
    counted: countedPairs(settings, item, border),
    bins,
    map: withMap
      ? { bytes: new Uint8Array(map.buffer), stride: out.width * unit, bandBytes: out.width * out.height * unit }
      : undefined,
  };
}
