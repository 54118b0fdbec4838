import type { PixelType } from '@halogrid/geometry';
import type { ReadOptions, SampleScale } from '../../planes/read-options.ts';
import { sayBands, whyNoBand } from '../../planes/why-no-band.ts';
import type { Codestream } from './codestream.ts';
import type { Jp2Boxes, Jp2Palette } from './jp2-boxes.ts';

/** How the samples of a JPEG 2000 become pixels. */
export interface Jp2Layout {
  pixel: PixelType;
  colours: 'gray' | 'rgb' | 'palette';
  /** The components of each plane that is read: one, or red, green and blue. A plane for each band. */
  planes: number[][];
  bits: number;
  kind: 'unsigned' | 'signed';
  scale: SampleScale | undefined;
  /** Red, green and blue of each sample. */
  palette: Uint8Array | undefined;
}

const maxBits = 16;
const paletteBits = 8;

/** How the pixels are read, or a sentence that says why they cannot be. */
export function jp2Layout(
  stream: Pick<Codestream, 'bits' | 'isSigned' | 'components'>,
  boxes: Pick<Jp2Boxes, 'space' | 'otherSpace' | 'channels' | 'palette'>,
  { band, scale }: ReadOptions = {},
): Jp2Layout | string {
  const { bits, isSigned, components } = stream;
  const samples = `${bits}-bit ${isSigned ? 'signed' : 'unsigned'} samples`;
  if (bits > maxBits) return `${samples} of a JPEG 2000 are not supported: 1 to ${maxBits} bits are`;
  if (isSigned && !scale) {
    return `${samples} need --scale MIN,MAX: the values that become black and white`;
  }
  const kind = isSigned ? 'signed' : 'unsigned';
  const common = { pixel: (scale?.bits ?? bits) > 8 ? 'u16' : 'u8', bits, kind, scale, palette: undefined } as const;
  if (boxes.palette) return ofPalette(boxes.palette, stream, { band, scale });
  if (band) {
    const bands = band.numbers.map((number) => [number - 1]);
    return whyNoBand(band, components, 'JPEG 2000') ?? { ...common, colours: 'gray', planes: bands };
  }
  if (boxes.otherSpace) return `A JPEG 2000 in ${boxes.otherSpace} has no defined luma: gray, RGB and palettes have`;
  const colours = boxes.space ?? (components < 3 ? 'gray' : 'rgb');
  const chosen = colourComponents(colours, boxes.channels);
  if (chosen.some((component) => component >= components)) {
    return `The JPEG 2000 is damaged: ${colours === 'rgb' ? 'RGB' : 'gray'} of ${sayBands(components)}`;
  }
  if (hasOtherBands(colours, components, boxes.channels)) {
    return `The JPEG 2000 has ${components} bands that are not colours: choose with --band, 1 to ${components} or all`;
  }
  return { ...common, colours, planes: [chosen] };
}

/** The components of gray, or of red, green and blue: in this order, unless the file has another. */
function colourComponents(colours: 'gray' | 'rgb', channels: Jp2Boxes['channels']): number[] {
  return Array.from({ length: colours === 'rgb' ? 3 : 1 }, (_, i) => {
    const channel = channels.find(({ kind, colour }) => kind === 0 && colour === i + 1);
    return channel?.component ?? i;
  });
}

/** Whether there are samples that are neither colours nor alpha. One beside RGB is alpha if the file does not say. */
function hasOtherBands(colours: 'gray' | 'rgb', components: number, channels: Jp2Boxes['channels']): boolean {
  const alphas = channels.filter(({ kind }) => kind === 1 || kind === 2).length;
  const others = components - alphas - (colours === 'rgb' ? 3 : 1);
  return others > (colours === 'rgb' && alphas === 0 ? 1 : 0);
}

function ofPalette(
  { columns, depths, values, mapped }: Jp2Palette,
  { bits, isSigned, components }: Pick<Codestream, 'bits' | 'isSigned' | 'components'>,
  { band, scale }: ReadOptions,
): Jp2Layout | string {
  if (band || scale) {
    return `The samples of a JPEG 2000 in a palette have no ${band ? 'bands (--band)' : 'scale (--scale)'}: those in gray and RGB have`;
  }
  const used = columns < 3 ? [0, 0, 0] : [0, 1, 2];
  const isUsual = used.every((column, i) => mapped[columns < 3 ? 0 : i]?.column === column);
  const component = mapped[0]?.component ?? 0;
  if (
    isSigned ||
    bits > paletteBits ||
    component >= components ||
    !isUsual ||
    mapped.slice(0, 3).some((channel) => channel.component !== component)
  ) {
    return `A JPEG 2000 with a palette of this kind is not supported: a palette for one component of 1 to ${paletteBits} bits is`;
  }
  if (!depths.every((depth) => depth === 7)) {
    return 'A palette with other than 8 bits for a colour is not supported: 8 bits are';
  }
  const rows = values.length / columns;
  // Samples beyond the palette have its last colour.
  const palette = Uint8Array.from(
    { length: 3 * 2 ** bits },
    (_, i) => values[Math.min(Math.floor(i / 3), rows - 1) * columns + used[i % 3]!]!,
  );
  return {
    pixel: 'u8',
    colours: 'palette',
    planes: [[component]],
    bits,
    kind: 'unsigned',
    scale: undefined,
    palette,
  };
}
