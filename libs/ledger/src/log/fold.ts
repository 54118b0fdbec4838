import { cellsOf } from '@halogrid/kernels/grid';
import { readVarints } from '@halogrid/proto/varints';
import type { ShardSummary } from '@halogrid/results/found-shard';
import { binsOfCell, binsOfSource, type HistogramShape, isOneCell } from '@halogrid/results/histogram-shape';
import type { PartSums } from '@halogrid/results/part-sums';
import { SourceBlock } from '@halogrid/sources/source-block';
import { restoreState } from './checkpoint.ts';
import type { AnswerFact, Fact, PlannedFact, TileFact, WithdrawnFact } from './fact.ts';
import type { FactPlace } from './fact-place.ts';
import { isOpen, type JobState, type QuarantinedSource, type UnfinishedImage } from './job-state.ts';
import { OpenBins } from './open-bins.ts';

/**
 * Returns the state after a fact. Only this function changes states, both for a leader at work and when a log is read.
 * Its result depends only on the state and the fact. It may change `state` in place, because copies of sums and indexes
 * would take the time of many facts. Throws RangeError for a fact that cannot follow.
 */
export function fold(state: JobState, fact: Fact): JobState {
  switch (fact.kind) {
    case 'planned':
      takePlan(state, fact);
      break;
    case 'attempt': {
      const before = state.attempts.get(fact.shard) ?? 0;
      if (state.index.isDone(fact.shard) || fact.attempt <= before) break;
      state.counts.attempts += fact.attempt - before;
      state.attempts.set(fact.shard, fact.attempt);
      break;
    }
    case 'node':
      state.nodes.push({ name: fact.name, device: fact.device, shards: 0 });
      break;
    case 'answer':
      takeAnswer(state, fact);
      break;
    case 'tile':
      takeTile(state, fact);
      break;
    case 'whole':
      closeImage(state, fact.source);
      state.index.setWhole(fact.source);
      addFound(state, fact);
      state.mended.settle(fact.source, true);
      break;
    case 'given-up':
      for (const { source, uri, stage, error } of fact.errors) {
        quarantine(state, source, { uri, stage, error, attempts: fact.attempts, shard: fact.shard });
      }
      shardDone(state, fact.shard);
      break;
    case 'skipped':
      shardDone(state, fact.shard);
      break;
    case 'withdrawn':
      takeBack(state, fact);
      break;
    case 'notes':
      state.notes = fact.notes;
      break;
    case 'time':
      state.times[fact.moment] ||= fact.atMs;
      break;
    case 'state': {
      const { kind: _, ...said } = fact;
      Object.assign(state, said);
      break;
    }
    case 'paused':
      state.paused = fact.paused;
      break;
    case 'checkpoint':
      return restoreState(
        state.parts.map(({ shape }) => shape),
        fact.state,
      );
  }
  return state;
}

/** Stores the place of a fact in the state. Call it for each folded fact, in order. */
export function placeFact({ index, open }: JobState, fact: Fact, place: FactPlace): void {
  // Nothing reads the counts of a tile once its image is whole or set aside.
  if (fact.kind === 'tile') open.get(fact.source)?.tiles.push(place);
  else if (fact.kind === 'planned') index.placePlanned(place);
  // An answer that was withdrawn before it was written has no place.
  else if (fact.kind === 'answer' && index.isDone(fact.shard)) index.placeAnswer(fact.shard, place);
  // An earlier answer to the shard has none either.
  else if (fact.kind === 'given-up' || fact.kind === 'skipped') index.placeAnswer(fact.shard, undefined);
  else if (fact.kind === 'whole') index.placeWhole(fact.source, place);
}

function takePlan(state: JobState, fact: PlannedFact): void {
  if (fact.sources && !fact.sources.isPlain) {
    for (const { index, uri, tiles = 1, error } of new SourceBlock(fact.sources.block)) {
      if (error) quarantine(state, index, { uri, ...error, attempts: 0, shard: -1 });
      else if (tiles > 1) state.open.set(index, { tilesLeft: tiles, pixels: 0, tiles: [], parts: [] });
    }
  }
  state.index.plan(fact);
  for (const [i, { work, elsewhere }] of fact.shards.entries()) {
    if (elsewhere) state.index.setDone(fact.firstShard + i, true);
    else if (work.kind !== 'kept') state.counts.shards++;
  }
  if (fact.isLast) state.planned = true;
}

function takeAnswer(state: JobState, fact: AnswerFact): void {
  takeErrors(state, fact);
  for (const { mended, sources, source, uri } of fact.mended) {
    state.mended.add({ mended, sources, source });
    state.mendedUris.set(source, uri);
  }
  forgetUris(state);
  addFound(state, fact);
  if (fact.node > 0) nodeDid(state, fact);
  else {
    state.counts.kept += fact.found;
    setDone(state, fact.shard);
  }
}

function takeTile(state: JobState, fact: TileFact): void {
  const image = state.open.get(fact.source);
  if (image && fact.parts) {
    addTile(state, image, fact);
    for (const { mended, sources, source, uri } of fact.mended) {
      state.mended.addTile({ mended, sources, source });
      state.mendedUris.set(source, uri);
    }
  }
  takeErrors(state, fact);
  forgetUris(state);
  nodeDid(state, fact);
}

function addTile(state: JobState, image: UnfinishedImage, fact: TileFact): void {
  const { size, rect, captured } = fact;
  const pixels = rect.width * rect.height;
  state.counts.pixels += pixels;
  image.pixels += pixels;
  image.tilesLeft--;
  image.size = size;
  // All tiles of an image have the same values.
  if (captured) image.captured ??= captured;
  addTileCounts(state, image, fact);
}

/** Adds the counts of a tile to its image. The image's number of pixels must already include the tile. */
export function addTileCounts(state: JobState, image: UnfinishedImage, { size, rect, parts = [] }: TileFact): void {
  for (const [i, { counted, binCount, bins: packed }] of parts.entries()) {
    const { shape } = state.parts[i]!;
    const part = image.parts[i] ?? { counted: 0, bins: new OpenBins(binsOfSource(shape)) };
    image.parts[i] = part;
    part.counted += counted;
    part.bins.makeRoomFor(image.pixels);
    addBins(part.bins, shape, { size, rect, bins: readCounts(packed, binCount) });
  }
}

/** Adds the bins of the cells that a tile touches to the bins of its image. */
function addBins(
  target: OpenBins,
  shape: HistogramShape,
  { size, rect, bins }: Pick<TileFact, 'size' | 'rect'> & { bins: Float64Array },
): void {
  const cellBins = binsOfCell(shape);
  if (isOneCell(shape.grid) || cellBins === 0) {
    target.add(0, bins, 0, cellBins);
    return;
  }
  let from = 0;
  for (const { row, column } of cellsOf(shape.grid, size, rect)) {
    target.add((row * shape.grid.columns + column) * cellBins, bins, from, cellBins);
    from += cellBins;
  }
}

function addFound(state: JobState, { found, pixels, parts: all }: ShardSummary): void {
  state.counts.frames += found;
  state.counts.pixels += pixels;
  for (const [i, part] of all.entries()) {
    const { totals } = state.parts[i]!;
    const { counted, sums } = readSums(part, totals.bins);
    state.parts[i]!.counted += counted;
    totals.add(
      sums,
      sums.reduce((most, sum) => Math.max(most, sum), 0),
    );
  }
}

/** Call it before the shard is marked done, because the sources of a done shard are settled. */
function takeErrors(state: JobState, { shard, attempt, errors }: AnswerFact | TileFact): void {
  for (const { source, uri, stage, error } of errors) {
    quarantine(state, source, { uri, stage, error, attempts: attempt, shard });
  }
}

function nodeDid(state: JobState, { shard, node, stageSeconds, busySeconds }: AnswerFact | TileFact): void {
  const its = state.nodes[node - 1];
  if (!its) throw new RangeError(`There is no node ${node}`);
  its.shards++;
  addSeconds(state.times.stageSeconds, stageSeconds);
  state.times.busySeconds ??= {};
  addSeconds(state.times.busySeconds, busySeconds);
  shardDone(state, shard);
}

function shardDone(state: JobState, shard: number): void {
  setDone(state, shard);
  state.counts.shardsDone++;
  state.attempts.delete(shard);
}

function setDone({ index, withdrawn }: JobState, shard: number): void {
  if (index.isDone(shard)) throw new RangeError(`Shard ${shard} is done twice`);
  withdrawn.delete(shard);
  index.setDone(shard, true);
}

/** Quarantines a source, unless it is done. With several reasons, the reason of the lowest shard stays. */
function quarantine(state: JobState, source: number, reason: QuarantinedSource): void {
  const before = state.quarantined.get(source);
  if (before ? reason.shard >= before.shard : !isOpen(state, source)) return;
  state.quarantined.set(source, reason);
  if (before) {
    state.reasons = undefined;
    return;
  }
  state.reasons?.add(source, reason);
  closeImage(state, source);
  state.mended.settle(source, false);
}

/** Forgets the tiles of an image that is whole or set aside. */
function closeImage(state: JobState, source: number): void {
  state.counts.pixels -= state.open.get(source)?.pixels ?? 0;
  state.open.delete(source);
}

function takeBack(state: JobState, fact: WithdrawnFact): void {
  const { shard, attempt, node, found, pixels, parts: all, errors, mended } = fact;
  if (!state.index.isDone(shard)) throw new RangeError(`Shard ${shard} is not done, and cannot be taken back`);
  state.index.setDone(shard, false);
  if (node > 0) {
    state.attempts.set(shard, attempt);
    state.withdrawn.set(shard, attempt);
    state.counts.shardsDone--;
    state.nodes[node - 1]!.shards--;
  } else state.counts.kept -= found;
  state.counts.frames -= found;
  state.counts.pixels -= pixels;
  for (const [i, part] of all.entries()) {
    const { totals } = state.parts[i]!;
    const { counted, sums } = readSums(part, totals.bins);
    state.parts[i]!.counted -= counted;
    totals.takeBack(sums);
  }
  for (const { source } of errors) if (state.quarantined.delete(source)) state.reasons = undefined;
  for (const its of mended) state.mended.takeBack(its);
}

function readSums({ counted, sums }: PartSums, bins: number): { counted: bigint; sums: Float64Array } {
  return { counted: BigInt(counted), sums: readCounts(sums, bins) };
}

function readCounts(packed: Uint8Array, count: number): Float64Array {
  const counts = new Float64Array(count);
  if (readVarints(packed, 0, counts) !== packed.length) throw new RangeError('There are more counts than bins');
  return counts;
}

function addSeconds(sums: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [name, seconds] of Object.entries(more)) sums[name] = (sums[name] ?? 0) + seconds;
}

/** Keeps only the URIs that may be reported. */
function forgetUris({ mended, mendedUris }: JobState): void {
  if (mendedUris.size === 0) return;
  const examples = mended.examples();
  for (const source of mendedUris.keys()) if (!examples.has(source)) mendedUris.delete(source);
}
