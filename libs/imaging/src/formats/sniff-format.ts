import {
  type Format,
  type FormatFacts,
  formatOfName,
  formats,
  InputError,
  unsupportedFormatOfName,
  unsupportedFormats,
} from '@halogrid/sources';

const names = Object.values(formats).flatMap((format): readonly string[] => format.names);
const supported = `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are supported`;
const supportedVideos =
  'videos in MP4, Matroska, AVI, MPEG-TS and MPEG-PS are; ffmpeg -i IN -c copy OUT.mp4 makes one of it where it holds ' +
  'H.264, H.265, AV1, VP9, MJPEG or MPEG-4';

/** After declarations and comments; SVG is text, so it has no fixed first bytes. */
const svg = /^(\xef\xbb\xbf)?\s*(<[?!][^>]*>\s*)*<svg[\s>]/i;

/**
 * The format of a file that begins with `head`. The name of the file decides for slides, and for formats without a
 * signature, or with that of another format. Throws InputError for unsupported formats.
 */
export function sniffFormat(head: Uint8Array, fileName = ''): Format {
  if (formatOfName(fileName) === 'slide') return 'slide';
  const start = startOf(head);
  const known = supportedFormat(start);
  const named = unsupportedFormatOfName(fileName);
  if (known && named?.isLike !== known) return known;
  const byName = known || named?.signatures.length === 0 ? named : undefined;
  const other = (known ? undefined : unsupportedFormats.find(isOf(start))) ?? byName;
  const name = svg.test(start) ? 'SVG' : other?.names[0];
  if (name) {
    const instead = other?.remedy ?? (other?.isVideo ? supportedVideos : supported);
    throw new InputError('decode', `${name} is not supported: ${instead}`);
  }
  throw new InputError('decode', `Not an image: the file starts with ${describe(start)}`);
}

/** Whether `head` is the beginning of a supported image format. */
export const isImageHead = (head: Uint8Array): boolean => supportedFormat(startOf(head)) !== undefined;

const startOf = (head: Uint8Array): string =>
  Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1024)).toString('latin1');

const supportedFormat = (start: string): Format | undefined =>
  (Object.keys(formats) as Format[]).find((format) => isOf(start)(formats[format]));

const isOf =
  (start: string) =>
  ({ signatures }: Pick<FormatFacts, 'signatures'>): boolean =>
    signatures.some((signature) => hasSignature(start, signature));

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
