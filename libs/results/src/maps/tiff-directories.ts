/** Types of a TIFF entry. */
export const ascii = 2;
export const short = 3;
export const long = 4;
export const rational = 5;
export const double = 12;
export const long8 = 16;

export interface Entry {
  tag: number;
  type: typeof ascii | typeof short | typeof long | typeof rational | typeof double | typeof long8;
  /** Characters for ascii; numerator and denominator for rational. */
  values: readonly number[];
}

/** Bytes of one value of a type. */
const valueBytes: Record<Entry['type'], number> = {
  [ascii]: 1,
  [short]: 2,
  [long]: 4,
  [rational]: 8,
  [double]: 8,
  [long8]: 8,
};

/** Bytes of the parts of a TIFF file. */
interface Sizes {
  header: number;
  count: number;
  entry: number;
  /** The most bytes of values that an entry itself holds; also the bytes of an offset. */
  inline: number;
}

const classic: Sizes = { header: 8, count: 2, entry: 12, inline: 4 };
const big: Sizes = { header: 16, count: 8, entry: 20, inline: 8 };

export const zeroTerminated = (text: string): number[] => [...Buffer.from(`${text}\0`, 'latin1')];

/**
 * The bytes of a little-endian TIFF file before its pixels: the header, then the directories in order, each followed by
 * the values that do not fit into its entries. The length does not depend on the values of offsets.
 */
export function encodeTiffHead(directories: readonly Entry[][], isBigTiff: boolean): Uint8Array {
  const sizes = isBigTiff ? big : classic;
  const starts: number[] = [];
  let end = sizes.header;
  for (const entries of directories) {
    starts.push(end);
    end = roundUp(end + directoryBytes(entries, sizes), 8);
    for (const entry of entries) if (lengthOf(entry) > sizes.inline) end = roundUp(end + lengthOf(entry), 8);
  }

  const bytes = new Uint8Array(end);
  const view = new DataView(bytes.buffer);
  bytes.set([0x49, 0x49]);
  view.setUint16(2, isBigTiff ? 43 : 42, true);
  if (isBigTiff) view.setUint16(4, 8, true);
  setOffset(view, sizes.inline, sizes.header, sizes);
  for (const [i, entries] of directories.entries()) setDirectory(view, starts[i]!, entries, starts[i + 1] ?? 0, sizes);
  return bytes;
}

function setDirectory(view: DataView, from: number, entries: Entry[], nextDirectory: number, sizes: Sizes): void {
  if (sizes === big) view.setBigUint64(from, BigInt(entries.length), true);
  else view.setUint16(from, entries.length, true);
  let valuesAt = roundUp(from + directoryBytes(entries, sizes), 8);
  for (const [i, entry] of entries.entries()) {
    const at = from + sizes.count + i * sizes.entry;
    view.setUint16(at, entry.tag, true);
    view.setUint16(at + 2, entry.type, true);
    setOffset(view, at + 4, lengthOf(entry) / valueBytes[entry.type], sizes);
    const inlineAt = at + 4 + sizes.inline;
    if (lengthOf(entry) <= sizes.inline) {
      setValues(view, inlineAt, entry);
    } else {
      setOffset(view, inlineAt, valuesAt, sizes);
      setValues(view, valuesAt, entry);
      valuesAt = roundUp(valuesAt + lengthOf(entry), 8);
    }
  }
  setOffset(view, from + sizes.count + entries.length * sizes.entry, nextDirectory, sizes);
}

function setOffset(view: DataView, at: number, value: number, sizes: Sizes): void {
  if (sizes === big) view.setBigUint64(at, BigInt(value), true);
  else view.setUint32(at, value, true);
}

function setValues(view: DataView, from: number, { type, values }: Entry): void {
  const bytes = type === rational ? 4 : valueBytes[type];
  for (const [i, value] of values.entries()) {
    const at = from + i * bytes;
    if (bytes === 1) view.setUint8(at, value);
    else if (bytes === 2) view.setUint16(at, value, true);
    else if (bytes === 4) view.setUint32(at, value, true);
    else if (type === double) view.setFloat64(at, value, true);
    else view.setBigUint64(at, BigInt(value), true);
  }
}

const lengthOf = ({ type, values }: Entry): number => (type === rational ? 4 : valueBytes[type]) * values.length;

const directoryBytes = (entries: Entry[], sizes: Sizes): number =>
  sizes.count + sizes.entry * entries.length + sizes.inline;

const roundUp = (value: number, unit: number): number => Math.ceil(value / unit) * unit;
