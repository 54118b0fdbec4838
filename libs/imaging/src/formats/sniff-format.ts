import { type Format, type FormatFacts, formats, InputError, unsupportedFormats } from '@halogrid/sources';

const names = Object.values(formats).flatMap((format): readonly string[] => format.names);
const supported = `${names.slice(0, -1).join(', ')} and ${names.at(-1)} are supported`;
const supportedVideos = 'videos in MP4, Matroska, AVI and MPEG-TS are';

/** After declarations and comments; SVG is text, so it has no fixed first bytes. */
const svg = /^(\xef\xbb\xbf)?\s*(<[?!][^>]*>\s*)*<svg[\s>]/i;

/** The format of a file that begins with `head`, whatever its name. Throws InputError for whatever is not supported. */
export function sniffFormat(head: Uint8Array): Format {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.length, 1024)).toString('latin1');
  const isOf = ({ signatures }: Pick<FormatFacts, 'signatures'>): boolean =>
    signatures.some((signature) => hasSignature(start, signature));
  const known = (Object.keys(formats) as Format[]).find((format) => isOf(formats[format]));
  if (known) return known;
  const other = unsupportedFormats.find(isOf);
  const name = svg.test(start) ? 'SVG' : other?.names[0];
  if (name) throw new InputError('decode', `${name} is not supported: ${other?.isVideo ? supportedVideos : supported}`);
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
