import type { Rect } from '@halogrid/geometry';
import type { MarkedSamples } from '../../planes/mark-no-data.ts';
import type { Pixels } from '../../planes/plane-target.ts';
import type { DecodedSamples } from '../../planes/write-rows.ts';
import { type Samples, scaleSamples } from './scale-samples.ts';
import type { TiffLayout } from './tiff-layout.ts';
import type { YcbcrToRgb } from './ycbcr.ts';

/** Samples of some pixels: all samples of each pixel or, with separate planes, one sample of each. */
export interface SampleBlock {
  /** `samples` of each pixel side by side, rows without gaps. */
  pixels: Samples;
  samples: number;
  /** Pixels of a row. */
  width: number;
}

/** What turns samples into gray or colours. */
export interface ColourTables {
  /** Red, green and blue of each sample of a palette. */
  palette: Uint8Array | undefined;
  ycbcr: YcbcrToRgb | undefined;
}

/**
 * The pixels inside `crop` as gray or RGB. `blocks` has one block, or one a plane. `mark` gets the samples that the
 * pixels are made of, for those without a value. `firstSample`: the sample of a pixel with which its colours begin.
 */
export function toColours(
  blocks: readonly SampleBlock[],
  { x, y, width, height: rows }: Rect,
  layout: Pick<TiffLayout, 'colours' | 'scale' | 'bits' | 'isInverted'>,
  tables: ColourTables,
  mark?: (samples: MarkedSamples) => void,
  firstSample = 0,
): DecodedSamples {
  const channels = layout.colours === 'rgb' || layout.colours === 'ycbcr' ? 3 : 1;
  const samples = pick(blocks, { x, y, width, height: rows }, channels, firstSample);
  const { scale } = layout;
  if (scale) mark?.({ pixels: samples, channels, width, rows });
  // Without a scale, samples are pixels: `tiffLayout` refuses others.
  const picked = scale ? scaleSamples(samples, scale) : (samples as Pixels);
  const { palette, ycbcr } = tables;
  ycbcr?.(picked);
  if (!scale) mark?.({ pixels: picked, channels, width, rows });
  if (palette) return { pixels: expand(picked, palette), channels: 3, width, rows };
  const most = 2 ** (scale?.bits ?? layout.bits) - 1;
  const factor = most < 255 ? 255 / most : 1;
  if (layout.isInverted) for (let i = 0; i < picked.length; i++) picked[i] = factor * (most - picked[i]!);
  else if (factor > 1) for (let i = 0; i < picked.length; i++) picked[i]! *= factor;
  return { pixels: picked, channels, width, rows };
}

/**
 * `channels` samples of each pixel inside the rectangle, from its sample `first` on; a view of the block if they lie
 * together there.
 */
function pick(blocks: readonly SampleBlock[], { x, y, width, height }: Rect, channels: 1 | 3, first: number): Samples {
  const [block] = blocks as [SampleBlock];
  if (blocks.length === 1 && block.samples === channels && block.width === width) {
    return block.pixels.subarray(y * width * channels, (y + height) * width * channels);
  }
  const picked = new (block.pixels.constructor as new (length: number) => Samples)(width * height * channels);
  for (let channel = 0; channel < channels; channel++) {
    const { pixels, samples, width: step } = blocks[blocks.length === 1 ? 0 : channel]!;
    const sample = blocks.length === 1 ? first + channel : 0;
    for (let row = 0, to = channel; row < height; row++) {
      const from = ((y + row) * step + x) * samples + sample;
      const end = from + width * samples;
      for (let at = from; at < end; at += samples, to += channels) picked[to] = pixels[at]!;
    }
  }
  return picked;
}

function expand(indices: Pixels, palette: Uint8Array): Uint8Array {
  const colours = new Uint8Array(indices.length * 3);
  for (let i = 0; i < indices.length; i++) {
    const at = 3 * indices[i]!;
    colours[3 * i] = palette[at]!;
    colours[3 * i + 1] = palette[at + 1]!;
    colours[3 * i + 2] = palette[at + 2]!;
  }
  return colours;
}
