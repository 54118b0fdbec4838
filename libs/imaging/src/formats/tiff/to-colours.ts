import type { PixelType, Rect } from '@halogrid/geometry';
import type { MarkedSamples } from '../../planes/mark-no-data.ts';
import type { Pixels } from '../../planes/plane-target.ts';
import type { DecodedSamples } from '../../planes/write-rows.ts';
import type { TiffLayout } from './tiff-layout.ts';
import type { YcbcrToRgb } from './ycbcr.ts';

/** Samples of some pixels: all samples of each pixel or, with separate planes, one sample of each. */
export interface SampleBlock {
  /** `samples` of each pixel side by side, rows without gaps. */
  pixels: Pixels;
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
 * pixels are made of, for those without a value.
 */
export function toColours(
  blocks: readonly SampleBlock[],
  { x, y, width, height: rows }: Rect,
  layout: TiffLayout,
  tables: ColourTables,
  mark?: (samples: MarkedSamples) => void,
): DecodedSamples {
  const channels = layout.colours === 'rgb' || layout.colours === 'ycbcr' ? 3 : 1;
  const picked = pick(blocks, { x, y, width, height: rows }, channels, layout.pixel);
  const { palette, ycbcr } = tables;
  ycbcr?.(picked);
  mark?.({ pixels: picked, channels, width, rows });
  if (palette) return { pixels: expand(picked, palette), channels: 3, width, rows };
  const most = 2 ** layout.bits - 1;
  const scale = layout.bits < 8 ? 255 / most : 1;
  if (layout.isInverted) for (let i = 0; i < picked.length; i++) picked[i] = scale * (most - picked[i]!);
  else if (scale > 1) for (let i = 0; i < picked.length; i++) picked[i]! *= scale;
  return { pixels: picked, channels, width, rows };
}

/** The first `channels` samples of each pixel inside the rectangle; a view of the block if they lie together there. */
function pick(
  blocks: readonly SampleBlock[],
  { x, y, width, height }: Rect,
  channels: 1 | 3,
  pixel: PixelType,
): Pixels {
  const [first] = blocks as [SampleBlock];
  if (blocks.length === 1 && first.samples === channels && first.width === width) {
    return first.pixels.subarray(y * width * channels, (y + height) * width * channels);
  }
  const picked = new (pixel === 'u8' ? Uint8Array : Uint16Array)(width * height * channels);
  for (let channel = 0; channel < channels; channel++) {
    const { pixels, samples, width: step } = blocks[blocks.length === 1 ? 0 : channel]!;
    const sample = blocks.length === 1 ? channel : 0;
    for (let row = 0, to = channel; row < height; row++) {
      const from = ((y + row) * step + x) * samples + sample;
      for (let i = 0; i < width; i++, to += channels) picked[to] = pixels[from + i * samples]!;
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
