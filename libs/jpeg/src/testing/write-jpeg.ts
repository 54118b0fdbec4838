import { randomCodes, randomSource, type TestCodes } from '@halogrid/imaging/testing-codes';

/** The properties of a made-up JPEG. */
export interface MadeUpJpeg {
  width: number;
  height: number;
  /**
   * Sampling factors across and down of each component: one component, or three. The first has the greatest factors.
   */
  samplings: readonly (readonly [number, number])[];
  /** MCUs between restart markers; 0: without restart markers. */
  restartMcus: number;
  /** The percentage of coefficients that are not 0, and their greatest size in bits. */
  density: number;
  bits: number;
  /** The greatest quantiser. */
  quantiser: number;
  /** Whether all components share the tables of the first. */
  sharesTables: boolean;
  seed: number;
}

const everySymbol = Array.from({ length: 256 }, (_, symbol) => symbol);

/** Writes a baseline JPEG of random coefficients with random Huffman tables, unlike that of any encoder. */
export function writeJpeg(made: MadeUpJpeg): Buffer {
  const random = randomSource(made.seed);
  const shuffled = (symbols: readonly number[]) =>
    symbols
      .map((symbol) => ({ symbol, key: random(2 ** 30) }))
      .sort((a, b) => a.key - b.key)
      .map(({ symbol }) => symbol);
  const kinds = made.sharesTables || made.samplings.length === 1 ? 1 : 2;
  const tables = Array.from({ length: kinds }, () => ({
    dc: randomCodes(shuffled(everySymbol.slice(0, 12)), random),
    ac: randomCodes(shuffled(everySymbol), random),
  }));
  const quantisers = Uint8Array.from({ length: 64 }, () => 1 + random(made.quantiser));
  const tableOf = (component: number): number => (component === 0 ? 0 : kinds - 1);
  const header = [
    Buffer.from([0xff, 0xd8]),
    segment(0xdb, [0, ...quantisers]),
    segment(0xc0, [8, ...word(made.height), ...word(made.width), made.samplings.length, ...componentsOf(made)]),
    ...tables.flatMap(({ dc, ac }, i) => [
      segment(0xc4, [i, ...dc.counts, ...dc.symbols]),
      segment(0xc4, [16 + i, ...ac.counts, ...ac.symbols]),
    ]),
    ...(made.restartMcus > 0 ? [segment(0xdd, word(made.restartMcus))] : []),
    segment(0xda, [
      made.samplings.length,
      ...made.samplings.flatMap((_, i) => [i + 1, 17 * tableOf(i)]),
      ...[0, 63, 0],
    ]),
  ];
  const blocks = made.samplings.flatMap(([across, down], component) =>
    Array<number>(made.samplings.length === 1 ? 1 : across * down).fill(component),
  );
  const bits = new BitWriter();
  const dc = made.samplings.map(() => 0);
  for (let mcu = 0; mcu < mcusOf(made); mcu++) {
    if (mcu > 0 && made.restartMcus > 0 && mcu % made.restartMcus === 0) {
      bits.restart(mcu / made.restartMcus - 1);
      dc.fill(0);
    }
    for (const component of blocks) {
      const table = tables[tableOf(component)]!;
      dc[component] = writeBlock(bits, table, dc[component]!, made, random);
    }
  }
  return Buffer.concat([...header, bits.end(), Buffer.from([0xff, 0xd9])]);
}

function mcusOf({ width, height, samplings }: MadeUpJpeg): number {
  const [across, down] = samplings.length === 1 ? [1, 1] : samplings[0]!;
  return Math.ceil(width / (8 * across)) * Math.ceil(height / (8 * down));
}

const componentsOf = ({ samplings }: MadeUpJpeg): number[] =>
  samplings.flatMap(([across, down], i) => [i + 1, 16 * across + down, 0]);

/** Writes a block and returns its DC. */
function writeBlock(
  bits: BitWriter,
  { dc, ac }: { dc: TestCodes; ac: TestCodes },
  before: number,
  made: MadeUpJpeg,
  random: ReturnType<typeof randomSource>,
): number {
  const value = Math.max(-1000, Math.min(1000, before + random(401) - 200));
  writeValue(bits, dc, 0, value - before);
  let run = 0;
  for (let place = 1; place < 64; place++) {
    if (random(100) >= made.density) {
      run++;
      continue;
    }
    for (; run > 15; run -= 16) bits.put(ac.codes.get(0xf0)!);
    const greatest = 2 ** (1 + random(made.bits)) - 1;
    const magnitude = 1 + random(greatest);
    writeValue(bits, ac, run, random(2) === 0 ? magnitude : -magnitude);
    run = 0;
  }
  if (run > 0) bits.put(ac.codes.get(0)!);
  return value;
}

function writeValue(bits: BitWriter, { codes }: TestCodes, run: number, value: number): void {
  const size = value === 0 ? 0 : 32 - Math.clz32(Math.abs(value));
  bits.put(codes.get(16 * run + size)!);
  bits.put({ code: value < 0 ? value + 2 ** size - 1 : value, bits: size });
}

class BitWriter {
  readonly #bytes: number[] = [];
  #word = 0;
  #bits = 0;

  put({ code, bits }: { code: number; bits: number }): void {
    for (let i = bits - 1; i >= 0; i--) {
      this.#word = 2 * this.#word + ((code >> i) & 1);
      if (++this.#bits < 8) continue;
      this.#bytes.push(this.#word);
      if (this.#word === 0xff) this.#bytes.push(0);
      this.#word = this.#bits = 0;
    }
  }

  restart(number: number): void {
    this.#fill();
    this.#bytes.push(0xff, 0xd0 + (number & 7));
  }

  end(): Buffer {
    this.#fill();
    return Buffer.from(this.#bytes);
  }

  #fill(): void {
    while (this.#bits > 0) this.put({ code: 1, bits: 1 });
  }
}

const word = (value: number): [number, number] => [value >> 8, value & 255];
const segment = (marker: number, bytes: readonly number[]): Buffer =>
  Buffer.from([0xff, marker, ...word(bytes.length + 2), ...bytes]);
