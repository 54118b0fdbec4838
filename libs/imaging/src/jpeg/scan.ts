import type { HuffmanTable } from './huffman-table.ts';
import { marker } from './markers.ts';
import { nextMarker } from './next-marker.ts';
import { type Component, type Segments, Unusual } from './read-segment.ts';
import { ScanBits } from './scan-bits.ts';
import { standardTables } from './standard-tables.ts';

/** MCUs that are walked between two yields: some 50 ms. */
const turnMcus = 2 ** 16;

/** The Huffman tables of a block. */
type BlockTables = readonly [dc: HuffmanTable, ac: HuffmanTable];

/** A scan of a baseline JPEG: the structure that its data must have. */
export interface Scan {
  /** The ids of its components. */
  ids: readonly number[];
  /** The blocks of an MCU, in their order. */
  blocks: readonly BlockTables[];
  mcus: number;
  /** MCUs between two restart markers; Infinity without restart markers. */
  stretchMcus: number;
}

/** The scan that a SOS segment begins, by the segments found before it. Throws Unusual. */
export function readScan(segment: Uint8Array, { frame, dc, ac, restartMcus }: Segments): Scan {
  if (!frame) throw new Unusual('a scan before its frame');
  const its = Array.from({ length: segment[0] ?? 0 }, (_, i): { component: Component; tables: BlockTables } => {
    const component = frame.components.find(({ id }) => id === segment[1 + 2 * i]);
    const selectors = segment[2 + 2 * i] ?? 0xff;
    const tables = [tableOf(dc, standardTables.dc, selectors >> 4), tableOf(ac, standardTables.ac, selectors & 15)];
    if (!component) throw new Unusual('a scan of a component that there is not');
    return { component, tables: tables as unknown as BlockTables };
  });
  if (its.length === 0 || segment.length !== 4 + 2 * its.length) throw new Unusual('a scan header of another length');
  const most = (side: 'across' | 'down') => Math.max(...frame.components.map((component) => component[side]));
  const unitsOf = (pixels: number, side: 'across' | 'down') => {
    // In a scan of one component, an MCU is one block, and there are only blocks with samples.
    if (its.length > 1) return Math.ceil(pixels / (8 * most(side)));
    return Math.ceil(Math.ceil((pixels * its[0]!.component[side]) / most(side)) / 8);
  };
  const mcus = unitsOf(frame.width, 'across') * unitsOf(frame.height, 'down');
  const blocks = its.flatMap(({ component: { across, down }, tables }) =>
    Array<BlockTables>(its.length > 1 ? across * down : 1).fill(tables),
  );
  return {
    ids: its.map(({ component }) => component.id),
    blocks,
    mcus,
    stretchMcus: restartMcus || Number.POSITIVE_INFINITY,
  };
}

function tableOf(own: readonly (HuffmanTable | undefined)[], standard: readonly HuffmanTable[], place: number) {
  const table = own[place] ?? standard[place];
  if (!table) throw new Unusual('a Huffman table is missing');
  return table;
}

/** Where a scan ends, and which bytes in it are not data. */
export interface ScanEnd {
  /** The stray bytes before restart markers: where they begin and end. */
  gaps: [from: number, to: number][];
  /** The place of the byte after the last block. */
  end: number;
  /**
   * Whether more data seems to follow, as in an image that is higher than its header says: another stretch, or blocks
   * up to the end.
   */
  hasMore: boolean;
}

/**
 * Walks through the data of a scan that begins at `at`, code by code. Returns undefined if data is lost: a code is not
 * defined, a stretch ends before its last block or goes on within a byte, or a restart marker is not the expected one.
 * It yields now and then, because it takes 20 ms a megabyte.
 */
export function* walkScan(
  jpeg: Uint8Array,
  at: number,
  { blocks, mcus, stretchMcus }: Scan,
): Generator<undefined, ScanEnd | undefined> {
  const gaps: ScanEnd['gaps'] = [];
  let bits = new ScanBits(jpeg, at);
  const skipMcu = () => {
    for (const [dc, ac] of blocks) bits.skipBlock(dc, ac);
  };
  for (let first = 0, due = 0; ; first += stretchMcus, due = (due + 1) & 7) {
    const behind = Math.min(mcus, first + stretchMcus);
    for (let mcu = first; mcu < behind && !bits.isBad; mcu++) {
      skipMcu();
      if (mcu % turnMcus === turnMcus - 1) yield;
    }
    if (bits.isBad) return undefined;
    const { end } = bits;
    const restart = nextMarker(jpeg, end);
    // Stray bytes of encoders begin at a byte; blocks left over after damage begin at any bit.
    if (restart?.from !== end && !bits.isFilledUp) return undefined;
    const isDue = stretchMcus < Number.POSITIVE_INFINITY && restart?.code === marker.firstRestart + due;
    if (first + stretchMcus >= mcus) {
      for (let more = 1; !bits.isBad && !bits.isUsedUp; more++) {
        skipMcu();
        if (more % turnMcus === 0) yield;
      }
      const isToEnd = !bits.isBad && bits.end > end && nextMarker(jpeg, bits.end)?.code === marker.endOfImage;
      return { gaps, end, hasMore: isDue || isToEnd };
    }
    if (!isDue) return undefined;
    if (restart.from > end) gaps.push([end, restart.from]);
    bits = new ScanBits(jpeg, restart.end);
  }
}
