import { SourcePacker } from '@halogrid/sources/pack-sources';
import { type BlockSource, SourceBlock } from '@halogrid/sources/source-block';
import type { PackedFrames, PlanStep, Shard, ShardWork, SourceRef } from './shard.ts';

const zero = 0x30;

/** Planned frames as steps of their own would say them. */
type PlannedFrame = Extract<PlanStep, { kind: 'source' }>;

/** Whether the source is a file of which a batch processes all, as far as it can tell. */
export const isPackable = (step: PlannedFrame): boolean => step.tiles === 1 && step.video === undefined;

/**
 * The work of a shard with the sources that it is of, where these are `planned`: as many, in the same order. Undefined where nodes are held to
 * other versions than those that were listed, and where a block does not hold as many.
 */
export function packFrames(planned: readonly PlannedFrame[], work: ShardWork): PackedFrames | undefined {
  if (work.kind !== 'frames' || work.segment || work.sources.length !== planned.length) return undefined;
  const { sources } = work;
  if (!sources.every(({ index, uri }, i) => index === planned[i]!.index && uri === planned[i]!.uri)) return undefined;
  const isPinned = sources.every(({ version }, i) => version === planned[i]!.version);
  if (!isPinned && !sources.every(({ version }) => version === undefined)) return undefined;
  const packed = packOf(planned, sources);
  const [first] = sources;
  if (!packed || !first) return undefined;
  return {
    kind: 'packed',
    first: first.index,
    count: sources.length,
    block: packed.block,
    isPinned,
    uri: first.uri,
    folders: packed.folders,
    hasPreviews: sources.some(({ preview }) => preview),
  };
}

/** The block of sources, and the folders that they are in; undefined where it would be longer than a block may be. */
function packOf(
  planned: readonly PlannedFrame[],
  refs: readonly SourceRef[],
): Pick<PackedFrames, 'block' | 'folders'> | undefined {
  const packer = new SourcePacker();
  const folders = new Set<string>();
  // One at a time, so that none is held; a generator of them took a twentieth of a plan's time (measured).
  try {
    for (let i = 0; i < planned.length; i++) {
      const { index, uri, name, version } = planned[i]!;
      const source: BlockSource = { index, uri, name, sizeBytes: sizeOf(version) };
      if (version !== undefined) source.version = source.pin = version;
      if (refs[i]!.preview) source.preview = true;
      if (packer.add(source)) folders.add(folderOf(uri));
    }
    return { block: packer.pack(), folders: [...folders] };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The versions of files begin with their size, which a block then has once. */
function sizeOf(version = ''): number {
  const end = Math.max(0, version.indexOf(' '));
  const size = digitsOf(version, end) ?? Number(version.slice(0, end));
  return Number.isSafeInteger(size) && size > 0 ? size : 0;
}

/** A number of so many digits is exact. */
const mostDigits = 15;

/** The number that the first units of a text are, where all are digits, without a text of them. */
function digitsOf(text: string, end: number): number | undefined {
  if (end > mostDigits) return undefined;
  let value = 0;
  for (let i = 0; i < end; i++) {
    const digit = text.charCodeAt(i) - zero;
    if (digit < 0 || digit > 9) return undefined;
    value = 10 * value + digit;
  }
  return value;
}

export const folderOf = (uri: string): string => uri.slice(0, Math.max(0, uri.lastIndexOf('/')));

/** The sources that a shard is of. Those of packed frames are read each time. */
export function refsOf(work: ShardWork): SourceRef[] {
  if (work.kind === 'tile') return [work.source];
  return work.kind === 'frames' ? work.sources : Array.from(framesOf(work), ({ ref }) => ref);
}

/** Numbers of the sources that a shard is of. */
export function indexesOf(work: ShardWork): number[] {
  if (work.kind === 'packed') return Array.from({ length: work.count }, (_, i) => work.first + i);
  return refsOf(work).map(({ index }) => index);
}

/** The same steps without packed frames: their sources before their shard. */
export function unpackStep(step: PlanStep): PlanStep[] {
  if (step.kind !== 'shard' || step.shard.work.kind !== 'packed') return [step];
  const frames = [...framesOf(step.shard.work)];
  const shard: Shard = { ...step.shard, work: { kind: 'frames', sources: frames.map(({ ref }) => ref) } };
  return [...frames.map(({ planned }) => planned), { kind: 'shard', shard }];
}

function* framesOf({ block, isPinned }: PackedFrames): Generator<{ planned: PlannedFrame; ref: SourceRef }> {
  for (const { index, uri, name, version, preview } of new SourceBlock(block)) {
    const known = version === undefined ? {} : { version };
    yield {
      planned: { kind: 'source', index, uri, name, tiles: 1, ...known },
      ref: { index, uri, ...(isPinned && known), ...(preview && { preview }) },
    };
  }
}
