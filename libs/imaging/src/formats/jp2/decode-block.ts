import { InputError } from '@halogrid/sources';
import { readCodestream } from './codestream.ts';
import { checkTileSize, decodeTile } from './decode-tile.ts';
import { decodeYcbcr } from './decode-ycbcr.ts';
import { memorySource } from './file-window.ts';
import { readBoxes } from './jp2-boxes.ts';
import { findTileParts } from './tile-parts.ts';

/** What a block must hold. */
export interface BlockForm {
  width: number;
  height: number;
  bits: number;
  isSigned: boolean;
  components: number;
  /** Three components are Y, Cb and Cr, and the block is decoded to red, green and blue. */
  isYcbcr: boolean;
}

/**
 * The bytes of the samples of a block that is a JPEG 2000 of one tile, in the byte order of this machine. Rejects with
 * InputError, which names the block.
 */
export async function decodeBlock(bytes: Buffer, form: BlockForm, name: string): Promise<Uint8Array> {
  try {
    const source = memorySource(bytes);
    const { start, end } = await readBoxes(source);
    const stream = await readCodestream(source, start, end, form.isYcbcr ? 'chroma' : 'none');
    const { x0, y0, x1, y1, bits, isSigned, components, tiles } = stream;
    const found = { width: x1 - x0, height: y1 - y0, bits, isSigned, components };
    if (sayForm(found) !== sayForm(form)) {
      throw new InputError('decode', `It has ${sayForm(found)} where the TIFF has ${sayForm(form)}`);
    }
    if (tiles.columns * tiles.rows > 1) {
      throw new InputError('decode', `It has ${tiles.columns * tiles.rows} tiles of its own, and 1 is supported`);
    }
    checkTileSize(stream, 0);
    const [parts] = await findTileParts(source, stream);
    const pieces = parts!.map((part) => bytes.subarray(part.start, part.end));
    if (form.isYcbcr) return await decodeYcbcr(stream, pieces);
    const chosen = Array.from({ length: components }, (_, i) => i);
    const { buffer, byteOffset, byteLength } = await decodeTile(stream, 0, pieces, { level: 0, components: chosen });
    return new Uint8Array(buffer, byteOffset, byteLength);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { stage, message, fault } = error;
    const why = `The JPEG 2000 in ${name} of the TIFF cannot be decoded: ${message[0]!.toLowerCase()}${message.slice(1)}`;
    throw new InputError(stage, why, { fault });
  }
}

const sayForm = ({ width, height, bits, isSigned, components }: Omit<BlockForm, 'isYcbcr'>): string =>
  `${width}x${height} pixels of ${components} ${isSigned ? 'signed' : 'unsigned'} samples of ${bits} bits`;
