import { createSamples, sampleBytes } from '@halogrid/geometry';
import { copyBorderedRows, storedPixels } from '../kernel/bordered-rows.ts';
import type { Operation } from '../kernel/operation.ts';
import { countedPairs, pairedPixels } from '../kernel/pairs.ts';
import type { ItemResult, PlaneItem } from '../kernel/plane-item.ts';
import { WasmModule } from '../kernel/wasm-module.ts';
import type { GlcmSettings } from './parameters.ts';

/** The exports of assembly/glcm.ts; addresses are bytes in the memory. */
interface Exports {
  levelsOfBytes(source: number, levels: number, length: number, to: number): void;
  levelsOfWords(source: number, levels: number, length: number, to: number): void;
  countPairs(
    own: number,
    partner: number,
    levels: number,
    length: number,
    codes: number,
    tables: number,
    tableBytes: number,
  ): void;
}

/** Levels computed at once, so that they stay in a core's L2 cache. */
const levelsAtOnce = 2 ** 17;
/** Bytes beyond a row that vectors may reach. */
const beyond = 16;

const wasm = new WasmModule<Exports>(new URL('./glcm.wasm', import.meta.url));

/**
 * Codes and matrices of one item with WebAssembly SIMD; equal to glcmReference. The `cpu` device runs it. Some rows at
 * a time, with the pixels of the border rule around them, become levels; then each offset combines a row with its
 * partners.
 */
export function glcmWasm(
  { settings, border, halo, output, reads = 'u8' }: Operation<GlcmSettings>,
  bytes: Uint8Array,
  item: PlaneItem,
  withMap: boolean,
): ItemResult {
  const { levels, steps } = settings;
  const { out, valid } = item;
  const bandPixels = out.width * out.height;
  const map = createSamples(output.sample, withMap ? bandPixels * steps.length : 0);
  const [above, below] = [-Math.min(0, ...steps.map(({ y }) => y)), Math.max(0, ...steps.map(({ y }) => y))];
  const paired = steps.map((step) => pairedPixels(item, step, border));

  const stride = valid.width + 2 * halo;
  const fitting = Math.floor(levelsAtOnce / stride) - above - below;
  const rowsAtOnce = Math.max(1, Math.min(valid.height, Math.max(fitting, above + below)));
  const mostPixels = stride * (rowsAtOnce + above + below);
  const tableBytes = 4 * levels ** 2;
  const codesAt = WasmModule.begin + 2 * tableBytes * steps.length;
  const levelsAt = roundUp(codesAt + 2 * valid.width + beyond);
  const sourceAt = roundUp(levelsAt + mostPixels + beyond);
  const view = wasm.reserve(sourceAt + mostPixels * sampleBytes[reads] + beyond);
  const { pixels, plane } = storedPixels(bytes, item, reads);
  const target = reads === 'u8' ? view : new Uint16Array(view.buffer);
  const codes = new Uint16Array(view.buffer, codesAt, valid.width);

  view.fill(0, WasmModule.begin, codesAt);
  for (let top = valid.y; valid.width > 0 && top < valid.y + valid.height; top += rowsAtOnce) {
    const rows = Math.min(rowsAtOnce, valid.y + valid.height - top);
    const rect = { x: valid.x - halo, y: top - above, width: stride, height: rows + above + below };
    copyBorderedRows(pixels, plane, border, rect, target, sourceAt / sampleBytes[reads], stride);
    const { exports } = wasm;
    const toLevels = reads === 'u8' ? exports.levelsOfBytes : exports.levelsOfWords;
    toLevels(sourceAt, levels, stride * rect.height, levelsAt);
    for (const [band, step] of steps.entries()) {
      const { x, y: first, width, height } = paired[band]!;
      const tables = WasmModule.begin + 2 * tableBytes * band;
      for (let y = Math.max(first, top); y < Math.min(first + height, top + rows); y++) {
        const own = levelsAt + (y - rect.y) * stride + x - rect.x;
        exports.countPairs(own, own + step.y * stride + step.x, levels, width, codesAt, tables, tableBytes);
        if (withMap) map.set(codes.subarray(0, width), band * bandPixels + (y - out.y) * out.width + x - out.x);
      }
    }
  }
  const unit = map.BYTES_PER_ELEMENT;
  return {
    counted: countedPairs(settings, item, border),
    bins: wasm.sumTables(WasmModule.begin, 2, { histograms: steps.length, bins: levels ** 2 }),
    map: withMap
      ? { bytes: new Uint8Array(map.buffer), stride: out.width * unit, bandBytes: bandPixels * unit }
      : undefined,
  };
}

const roundUp = (address: number): number => Math.ceil(address / 16) * 16;
