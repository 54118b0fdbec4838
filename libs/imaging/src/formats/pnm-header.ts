import type { PixelType } from '@halogrid/geometry';
import { InputError } from '@halogrid/sources';

export interface PnmHeader {
  width: number;
  height: number;
  /** 1: gray (P2, P5); 3: RGB (P3, P6). */
  channels: 1 | 3;
  /** Samples are decimal numbers (P2, P3), not one or two bytes (P5, P6). */
  isPlain: boolean;
  /** The largest sample there may be, 1 to 65535. */
  maxval: number;
  /** u16 if the largest sample is above 255. */
  pixel: PixelType;
  /** Where the samples begin, in bytes. */
  dataStart: number;
}

/** Nobody writes more comments than this. */
const maxHeaderBytes = 2 ** 16;

/** Reads the header from the first bytes of a file, which begin with P2, P3, P5 or P6. Throws InputError. */
export function readPnmHeader(head: Buffer): PnmHeader {
  const text = head.toString('latin1', 0, maxHeaderBytes);
  const kind = text.slice(0, 2);
  // White space and comments, then a number; the white space or comment after it is left in place.
  const field = /(?:[ \t\n\v\f\r]|#[^\n\r]*[\n\r])+(\d{1,10})(?=[ \t\n\v\f\r]|#[^\n\r]*[\n\r])/y;
  field.lastIndex = 2;
  const next = (name: string): number => {
    const match = field.exec(text);
    if (!match) throw new InputError('decode', `The header of the ${kind} file has no ${name}`);
    return Number(match[1]);
  };
  const width = next('width');
  const height = next('height');
  const maxval = next('largest value');
  if (maxval > 65_535) {
    throw new InputError('decode', `The largest value in the header is ${maxval}: at most 65535 is allowed`);
  }
  if (maxval === 0) throw new InputError('decode', `The header of the ${kind} file has 0 as its largest value`);
  return {
    width,
    height,
    channels: kind === 'P2' || kind === 'P5' ? 1 : 3,
    isPlain: kind === 'P2' || kind === 'P3',
    maxval,
    pixel: maxval > 255 ? 'u16' : 'u8',
    // One character of white space ends the header, after a comment if there is one: the next byte may be a sample.
    dataStart: text.startsWith('#', field.lastIndex)
      ? field.lastIndex + text.slice(field.lastIndex).search(/[\n\r]/) + 1
      : field.lastIndex + 1,
  };
}
