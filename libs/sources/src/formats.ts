import { isPlaneUri } from './plane-uri.ts';
import { isRowUri } from './row-uri.ts';

/**
 * What is known of the files of an image format before one is opened. The openers are in libs/imaging, by the same
 * names.
 */
export interface FormatFacts {
  /** The names of the format in sentences. */
  readonly names: readonly string[];
  /** Endings of such files' names, without the dot. What a file really is, its content tells. */
  readonly extensions: readonly string[];
  /** First bytes of a file, as Latin-1 text; '·' stands for any byte. */
  readonly signatures: readonly string[];
  /** Whether all of a file is read before anything is decoded, or only what a region needs. */
  readonly reading: 'whole' | 'regions';
  /** The most pixels that one byte of a file can hold. */
  readonly mostPixelsPerByte: number;
  /** Pixels a byte of a photograph at usual qualities. */
  readonly usualPixelsPerByte: number;
}

/** Signatures of Netpbm: a letter and a digit, and then white space or a comment. */
const netpbm = (digits: string): string[] =>
  [...digits].flatMap((digit) => [...' \t\n\v\f\r\xa0#'].map((next) => `P${digit}${next}`));

/** The image formats that are read. */
export const formats = {
  jpeg: {
    names: ['JPEG'],
    extensions: ['jpg', 'jpeg', 'jpe', 'jfif', 'mpo', 'insp'],
    signatures: ['\xff\xd8\xff'],
    reading: 'whole',
    // A progressive file spends one bit on the mean of 8 x 8 pixels and none on the rest; other files spend one on the
    // rest, too.
    mostPixelsPerByte: 512,
    usualPixelsPerByte: 8,
  },
  png: {
    names: ['PNG'],
    extensions: ['png'],
    signatures: ['\x89PNG\r\n\x1a\n'],
    reading: 'whole',
    // Deflate turns a byte into 1032, of eight pixels each.
    mostPixelsPerByte: 8256,
    usualPixelsPerByte: 2,
  },
  webp: {
    names: ['WebP'],
    extensions: ['webp'],
    signatures: ['RIFF····WEBP'],
    reading: 'whole',
    mostPixelsPerByte: Number.POSITIVE_INFINITY,
    usualPixelsPerByte: 8,
  },
  tiff: {
    names: ['TIFF'],
    // BTF, TF2 and TF8 are BigTIFF; the first page of SVS, NDPI and QPTIFF is the whole slide.
    extensions: ['tif', 'tiff', 'btf', 'tf2', 'tf8', 'svs', 'ndpi', 'qptiff'],
    signatures: ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'],
    reading: 'regions',
    mostPixelsPerByte: Number.POSITIVE_INFINITY,
    usualPixelsPerByte: 2,
  },
  pnm: {
    names: ['PGM', 'PPM'],
    extensions: ['pgm', 'ppm', 'pnm'],
    signatures: netpbm('2356'),
    reading: 'regions',
    mostPixelsPerByte: 1,
    usualPixelsPerByte: 1,
  },
  bmp: {
    names: ['BMP'],
    extensions: ['bmp', 'dib'],
    signatures: ['BM····\0\0\0\0'],
    reading: 'regions',
    mostPixelsPerByte: Number.POSITIVE_INFINITY,
    usualPixelsPerByte: 0.33,
  },
  gif: {
    names: ['GIF'],
    extensions: ['gif'],
    signatures: ['GIF87a', 'GIF89a'],
    reading: 'whole',
    mostPixelsPerByte: Number.POSITIVE_INFINITY,
    usualPixelsPerByte: 2,
  },
  avif: {
    names: ['AVIF'],
    extensions: ['avif'],
    signatures: ['····ftypavi'],
    reading: 'whole',
    mostPixelsPerByte: Number.POSITIVE_INFINITY,
    usualPixelsPerByte: 12,
  },
  jp2: {
    names: ['JPEG 2000'],
    extensions: ['jp2', 'j2k', 'j2c', 'jpc', 'jpf', 'jpx'],
    signatures: ['\0\0\0\x0cjP  ', '\xff\x4f\xff\x51'],
    reading: 'regions',
    mostPixelsPerByte: Number.POSITIVE_INFINITY,
    usualPixelsPerByte: 2,
  },
  zarr: {
    names: ['OME-Zarr'],
    // A folder; an input is one of its planes, by the URI of its array's metadata.
    extensions: ['zarr'],
    signatures: [],
    reading: 'regions',
    mostPixelsPerByte: Number.POSITIVE_INFINITY,
    usualPixelsPerByte: 2,
  },
  slide: {
    // What OpenSlide reads and no other format does; not for sentences that list what is always read.
    names: [],
    // 3DHISTECH, Hamamatsu, Sakura, Leica, Ventana. Some begin as a JPEG or TIFF, which holds a label.
    extensions: ['mrxs', 'vms', 'vmu', 'svslide', 'scn', 'bif'],
    signatures: [],
    reading: 'regions',
    mostPixelsPerByte: Number.POSITIVE_INFINITY,
    usualPixelsPerByte: 8,
  },
} as const satisfies Record<string, FormatFacts>;

export type Format = keyof typeof formats;

/** A format that is not read. Users who try it are told its name. */
export interface UnsupportedFormat extends Pick<FormatFacts, 'names' | 'extensions' | 'signatures'> {
  /** Whether it is a video format: the refusal names the formats that are read, and how to convert to one. */
  readonly isVideo?: true;
  /** Its files begin like files of this format, so that only the extension shows the difference. */
  readonly isLike?: Format;
  /** What to do with such a file, if it differs from the usual remedy. */
  readonly remedy?: string;
}

/** Formats that users try. Their files count as inputs, and opening one refuses it by the name of its format. */
export const unsupportedFormats: readonly UnsupportedFormat[] = [
  { names: ['HEIF'], extensions: ['heic', 'heif'], signatures: ['····ftyphe', '····ftypmif1', '····ftypmsf1'] },
  {
    names: ['Camera raw'],
    extensions: [
      ...[
        '3fr',
        'arw',
        'cr2',
        'cr3',
        'crw',
        'dcr',
        'erf',
        'fff',
        'gpr',
        'iiq',
        'kdc',
        'mef',
        'mos',
        'mrw',
        'nef',
        'nrw',
      ],
      ...['orf', 'pef', 'raf', 'rw2', 'rwl', 'sr2', 'srf', 'srw', 'x3f'],
    ],
    signatures: [
      ...['····ftypcrx ', 'II\x1a\0\0\0HEAPCCDR', 'FUJIFILMCCD-RAW', 'IIU\0', 'IIRO', 'IIRS', 'MMOR', '\0MRM', 'FOVb'],
    ],
    isLike: 'tiff',
  },
  { names: ['Video (MP4 or QuickTime)'], extensions: [], signatures: ['····ftyp'] },
  {
    names: ['A fragment of an MP4 without the beginning of its recording (moov)'],
    extensions: ['m4s'],
    signatures: ['····moof', '····styp', '····sidx'],
    remedy: "put the recording's initialization segment before its fragments: cat INIT.mp4 IN.m4s > OUT.mp4",
  },
  { names: ['A raw MJPEG stream'], extensions: ['mjpg', 'mjpeg'], signatures: [], isVideo: true, isLike: 'jpeg' },
  {
    names: ['A recording of a Dahua recorder that is encrypted or lacks its beginning (DHAV)'],
    extensions: ['dav'],
    signatures: [],
    remedy: "export it as MP4 by the recorder's web page or its player",
  },
  { names: ['A Genetec recording (G64)'], extensions: ['g64', 'g64x'], signatures: [], isVideo: true },
  {
    names: ['Windows Media (WMV)'],
    extensions: ['wmv', 'asf'],
    signatures: ['\x30\x26\xb2\x75\x8e\x66\xcf\x11'],
    isVideo: true,
  },
  { names: ['Flash video (FLV)'], extensions: ['flv', 'f4v'], signatures: ['FLV\x01'], isVideo: true },
  {
    names: ['A raw MPEG-1 or MPEG-2 stream'],
    extensions: ['m1v', 'm2v', 'mpv'],
    signatures: ['\0\0\x01\xb3'],
    isVideo: true,
  },
  { names: ['Ogg'], extensions: ['ogv'], signatures: ['OggS'], isVideo: true },
  { names: ['MXF'], extensions: ['mxf'], signatures: ['\x06\x0e\x2b\x34\x02\x05\x01\x01'], isVideo: true },
  { names: ['GXF'], extensions: ['gxf'], signatures: ['\0\0\0\0\x01\xbc'], isVideo: true },
  { names: ['RealMedia'], extensions: ['rm', 'rmvb'], signatures: ['.RMF'], isVideo: true },
  { names: ['DV'], extensions: ['dv', 'dif'], signatures: ['\x1f\x07\0'], isVideo: true },
  { names: ['IVF'], extensions: ['ivf'], signatures: ['DKIF'], isVideo: true },
  { names: ['YUV4MPEG'], extensions: ['y4m'], signatures: ['YUV4MPEG2'], isVideo: true },
  { names: ['A JPEG 2000 of several pages (JPM)'], extensions: ['jpm'], signatures: [], isLike: 'jp2' },
  { names: ['JPEG XL'], extensions: ['jxl'], signatures: ['\0\0\0\x0cJXL ', '\xff\x0a'] },
  { names: ['JPEG XR'], extensions: ['jxr', 'wdp', 'hdp'], signatures: ['II\xbc\x01'] },
  { names: ['OpenEXR'], extensions: ['exr'], signatures: ['\x76\x2f\x31\x01'] },
  { names: ['PBM'], extensions: ['pbm'], signatures: netpbm('14') },
  { names: ['PAM'], extensions: ['pam'], signatures: netpbm('7') },
  { names: ['PFM'], extensions: ['pfm'], signatures: netpbm('Ff') },
  { names: ['Photoshop'], extensions: ['psd', 'psb'], signatures: ['8BPS'] },
  { names: ['Targa'], extensions: ['tga'], signatures: [] },
  { names: ['PCX'], extensions: ['pcx'], signatures: [] },
  { names: ['SGI'], extensions: ['sgi'], signatures: ['\x01\xda'] },
  { names: ['Sun raster'], extensions: ['ras'], signatures: ['\x59\xa6\x6a\x95'] },
  { names: ['DirectDraw'], extensions: ['dds'], signatures: ['DDS '] },
  { names: ['QOI'], extensions: ['qoi'], signatures: ['qoif'] },
  { names: ['DICOM'], extensions: ['dcm', 'dicom'], signatures: [`${'·'.repeat(128)}DICM`] },
  { names: ['FITS'], extensions: ['fits', 'fit', 'fts'], signatures: ['SIMPLE  ='] },
  { names: ['NITF'], extensions: ['ntf', 'nitf'], signatures: ['NITF', 'NSIF'] },
  { names: ['ECW'], extensions: ['ecw'], signatures: [] },
  { names: ['MrSID'], extensions: ['sid'], signatures: ['msid'] },
  { names: ['Zeiss CZI'], extensions: ['czi'], signatures: ['ZISRAWFILE'] },
  { names: ['Nikon ND2'], extensions: ['nd2'], signatures: ['\xda\xce\xbe\x0a'] },
  { names: ['Leica LIF'], extensions: ['lif'], signatures: [] },
  // Its first page is a small picture of the slide.
  { names: ['A slide of Olympus (VSI)'], extensions: ['vsi'], signatures: [], isLike: 'tiff' },
  { names: ['PostScript'], extensions: ['eps'], signatures: ['%!PS'] },
  { names: ['PDF'], extensions: [], signatures: ['%PDF-'] },
  { names: ['ICO'], extensions: [], signatures: ['\0\0\x01\0'] },
  { names: ['gzip'], extensions: [], signatures: ['\x1f\x8b'] },
  { names: ['ZIP'], extensions: [], signatures: ['PK\x03\x04'] },
  // Both are told by more than their first bytes: a DNG is a TIFF, an SVG is text.
  { names: ['DNG'], extensions: ['dng'], signatures: [] },
  { names: ['SVG'], extensions: ['svg'], signatures: [] },
];

/**
 * Extensions of files in a folder that count as videos; later, their content tells whether they are. MPG files may be
 * transport streams or program streams.
 */
const videoExtensions: readonly string[] = [
  ...['mp4', 'm4v', 'mov', 'qt', '3gp', '3g2', 'insv', 'mkv', 'mk3d', 'webm', 'avi', 'divx'],
  ...['ts', 'm2ts', 'mts', 'm2t', 'tp', 'trp', 'tod', 'mpg', 'mpeg'],
  // Program streams; recordings of Dahua; streams in no container.
  ...['vob', 'ps', 'm2p', 'mod', 'mpe', 'evo', 'vro'],
  ...['dav', 'h264', '264', 'avc', 'h265', '265', 'hevc'],
];

const byExtension = new Map(
  Object.entries(formats).flatMap(([format, { extensions }]) =>
    extensions.map((extension): [string, Format] => [extension, format as Format]),
  ),
);
const unsupportedByExtension = new Map(
  unsupportedFormats.flatMap((format) => format.extensions.map((extension) => [extension, format] as const)),
);

const compressions = ['gz', 'bz2', 'xz', 'zst'];
/** Extensions of tars that are compressed, so that their members are no ranges of bytes. */
const compressedTars = [...compressions.map((extension) => `tar.${extension}`), 'tgz', 'tbz', 'tbz2', 'txz', 'tzst'];

/** Extensions of files that are read. */
export const supportedExtensions: readonly string[] = [...byExtension.keys(), ...videoExtensions, 'tar', 'parquet'];

/** The usual extensions, for a sentence in which all would be too long. */
export const usualExtensions = `${Object.values(formats)
  .slice(0, 5)
  .map(({ extensions: [first] }) => first)
  .join(', ')}, ${videoExtensions[0]} and the like (docs/inputs.md lists all)`;

/** What an extension tells. */
interface ExtensionFacts {
  /** The format of the file, if that format is read. */
  format: Format | undefined;
  isVideo: boolean;
  /** The probable format of the file, if that format is not read. */
  unsupported: UnsupportedFormat | undefined;
  /** Whether it is a tar, whose members are sources, or a compressed one. */
  tar: 'plain' | 'compressed' | undefined;
  /** Whether it is a Parquet file, whose rows may be sources. */
  isParquet: boolean;
}

/** What the last extension that was found tells; `suffix`: how it was written, with its dot. */
let last = { suffix: '.jpg', facts: factsOf('jpg') };

/**
 * What a name's extension tells; a name without a dot has none. A listing asks five times for each of a million files,
 * so no regular expression is used, and the extension of the file before is tried first.
 */
function byName(name: string): ExtensionFacts {
  if (name.endsWith(last.suffix)) return last.facts;
  const dot = name.lastIndexOf('.');
  if (dot < 0 || name.indexOf('/', dot) >= 0) return noFacts;
  const suffix = name.slice(dot);
  const extension = suffix.slice(1).toLowerCase();
  // What is before that dot counts, too, so the next name with this extension may tell something else.
  if (compressions.includes(extension)) return factsOf(/\.tar$/i.test(name.slice(0, dot)) ? `tar.${extension}` : '');
  last = { suffix, facts: factsOf(suffix.includes('#') && isPlaneUri(name) ? 'zarr' : extension) };
  return last.facts;
}

function factsOf(extension: string): ExtensionFacts {
  const format = byExtension.get(extension);
  const isVideo = videoExtensions.includes(extension);
  const tar = extension === 'tar' ? 'plain' : compressedTars.includes(extension) ? 'compressed' : undefined;
  return {
    format,
    isVideo,
    unsupported: unsupportedByExtension.get(extension),
    tar,
    isParquet: extension === 'parquet',
  };
}

const noFacts = factsOf('');

/** The format that a file's name or URI tells, if that format is read. */
export const formatOfName = (name: string): Format | undefined => byName(name).format;

export const hasVideoExtension = (name: string): boolean => byName(name).isVideo;

/** The probable format of a file of that name, if that format is not read. */
export const unsupportedFormatOfName = (name: string): UnsupportedFormat | undefined => byName(name).unsupported;

/** Whether a file of that name is probably of a format that is not read. */
export const hasUnsupportedExtension = (name: string): boolean => unsupportedFormatOfName(name) !== undefined;

/** Whether a file of that name is a tar, whose members are sources. */
export const isTarName = (name: string): boolean => byName(name).tar === 'plain';

/** Whether a file of that name is a Parquet file, whose rows may be sources. */
export const isParquetName = (name: string): boolean => byName(name).isParquet;

/** Whether a file of that name holds sources instead of being one. */
export const holdsSources = (name: string): boolean => byName(name).tar !== undefined || isParquetName(name);

export const isCompressedTarName = (name: string): boolean => byName(name).tar === 'compressed';

/** Whether a file of that name is meant to be an image or a video, or to hold some. */
export const hasImageExtension = (name: string): boolean =>
  formatOfName(name) !== undefined || hasVideoExtension(name) || hasUnsupportedExtension(name) || holdsSources(name);

/** The most pixels of an image, by the name and the size of its file; as in a PGM if the name tells nothing. */
export const mostPixels = (uri: string, sizeBytes: number): number =>
  sizeBytes && sizeBytes * formats[formatOfName(uri) ?? 'pnm'].mostPixelsPerByte;

/** The pixels of a usual photograph, by the name and the size of its file. */
export const usualPixels = (uri: string, sizeBytes: number): number => {
  // Images in Parquet files are mostly JPEGs, even where no name tells.
  const format = formatOfName(uri) ?? (isRowUri(uri) ? 'jpeg' : undefined);
  return sizeBytes * (format ? formats[format].usualPixelsPerByte : 2);
};
