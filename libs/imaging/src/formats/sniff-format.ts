import { InputError } from '@halogrid/sources';

export type Format = 'jpeg' | 'png' | 'webp' | 'tiff' | 'pnm';

const supported = 'JPEG, PNG, WebP, TIFF, PGM and PPM are supported';

/** The first bytes of a file, as Latin-1 text; '·' stands for any byte. */
const supportedSignatures: [signature: string, format: Format][] = [
  ['\xff\xd8\xff', 'jpeg'],
  ['\x89PNG\r\n\x1a\n', 'png'],
  ['RIFF····WEBP', 'webp'],
  ['II*\0', 'tiff'],
  ['MM\0*', 'tiff'],
  ['II+\0', 'tiff'],
  ['MM\0+', 'tiff'],
];

/** Formats that people try, so that they hear its name. */
const unsupportedSignatures: [signature: string, name: string][] = [
  ['GIF87a', 'GIF'],
  ['GIF89a', 'GIF'],
  ['BM····\0\0\0\0', 'BMP'],
  ['····ftypavi', 'AVIF'],
  ['····ftyphe', 'HEIF'],
  ['····ftypmif1', 'HEIF'],
  ['····ftypmsf1', 'HEIF'],
  ['····ftyp', 'Video (MP4 or QuickTime)'],
  ['\0\0\0\x0cjP  ', 'JPEG 2000'],
  ['\xff\x4f\xff\x51', 'JPEG 2000'],
  ['\0\0\0\x0cJXL ', 'JPEG XL'],
  ['\xff\x0a', 'JPEG XL'],
  ['\x76\x2f\x31\x01', 'OpenEXR'],
  ['8BPS', 'Photoshop'],
  ['%PDF-', 'PDF'],
  ['\0\0\x01\0', 'ICO'],
  ['\x1f\x8b', 'gzip'],
  ['PK\x03\x04', 'ZIP'],
];

/** The Netpbm family: a letter and a digit, then white space or a comment. Those without a name here are supported. */
const netpbm = /^P([1-7Ff])[\s#]/;
const unsupportedNetpbm: Record<string, string> = { 1: 'PBM', 4: 'PBM', 7: 'PAM', F: 'PFM', f: 'PFM' };

/** After declarations and comments; SVG is text, so it has no fixed first bytes. */
const svg = /^(\xef\xbb\xbf)?\s*(<[?!][^>]*>\s*)*<svg[\s>]/i;

/** The format of a file that begins with `head`, whatever its name. Throws InputError for whatever is not supported. */
export function sniffFormat(head: Uint8Array): Format {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1024)).toString('latin1');
  const known = supportedSignatures.find(([signature]) => hasSignature(start, signature));
  if (known) return known[1];
  const kind = netpbm.exec(start)?.[1];
  if (kind && !unsupportedNetpbm[kind]) return 'pnm';
  const name =
    (kind && unsupportedNetpbm[kind]) ??
    (svg.test(start) ? 'SVG' : unsupportedSignatures.find(([signature]) => hasSignature(start, signature))?.[1]);
  if (name) throw new InputError('decode', `${name} is not supported: ${supported}`);
  throw new InputError('decode', `Not an image: the file starts with ${describe(start)}`);
}

function hasSignature(start: string, signature: string): boolean {
  for (let i = 0; i < signature.length; i++) {
    if (signature[i] !== '·' && signature[i] !== start[i]) return false;
  }
  return true;
}

function describe(start: string): string {
  const text = /^[\t\n\r -~]{1,24}/.exec(start)?.[0] ?? '';
  if (text.length >= Math.min(start.length, 4)) return `the text ${JSON.stringify(text)}`;
  const bytes = Buffer.from(start.slice(0, 8), 'latin1').toString('hex');
  return `the bytes ${bytes.match(/../g)!.join(' ')}`;
}
