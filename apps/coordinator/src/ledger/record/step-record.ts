import { firstOf } from '../../job/planned-sources.ts';
import type { Shard, ShardWork } from '../../job/shard.ts';
import { SourceRuns } from '../../job/source-runs.ts';
import type { SpoolReader } from '../stored-frames.ts';
import { StoredSources } from '../stored-sources.ts';
import type { ByteReader } from './byte-reader.ts';
import type { ByteWriter } from './byte-writer.ts';

/** A step of a plan as the ledger has it: its sources are in a file. */
export type StoredStep = { kind: 'sources'; sources: StoredSources } | { kind: 'shard'; shard: StoredShard };
export type StoredShard = Omit<Shard, 'work'> & { work: ShardWork & { sources: StoredSources } };

/** The first byte of a step. */
const tags = { sources: 0, frames: 1, tile: 2 } as const;

/** What is likely to come next, so that a step says little where it is as expected. A piece begins with a new one. */
class Expected {
  source = 0;
  shard = 0;
  /** The first of the sources of a shard. */
  first = 0;
}

/**
 * Writes the steps of a plan, compactly: numbers as their difference from what is expected, sources as the place of
 * their block, and a shard with the number of its first source.
 */
export class StepWriter {
  readonly #bytes: ByteWriter;
  readonly #expected = new Expected();

  constructor(bytes: ByteWriter) {
    this.#bytes = bytes;
  }

  write(step: StoredStep): void {
    if (step.kind === 'sources') this.#sources(step.sources);
    else this.#shard(step.shard);
  }

  #sources({ runs, uri, folders, hasPreviews, isPlain, place }: StoredSources): void {
    const bytes = this.#bytes;
    const expected = this.#expected;
    bytes.uint(tags.sources);
    bytes.uint(runs.length / 2);
    new SourceRuns(runs).forEach((first, end) => {
      bytes.int(first - expected.source);
      bytes.uint(end - first);
      expected.source = end;
    });
    bytes.uint((hasPreviews ? 1 : 0) + (isPlain ? 2 : 0));
    bytes.text(uri);
    bytes.uint(folders.length);
    for (const folder of folders) bytes.text(folder);
    bytes.uint(place.offset);
    bytes.uint(place.length);
    expected.first = runs[0]!;
  }

  #shard({ shard, work, costBytes }: StoredShard): void {
    const bytes = this.#bytes;
    const expected = this.#expected;
    bytes.uint(tags[work.kind]);
    bytes.int(shard - expected.shard);
    bytes.uint(costBytes);
    bytes.int(firstOf(work.sources) - expected.first);
    expected.shard = shard + 1;
    expected.first = firstOf(work.sources);
    if (work.kind === 'frames') bytes.text(work.segment ? JSON.stringify(work.segment) : '');
    else {
      const { size, rect } = work;
      for (const px of [size.width, size.height, rect.x, rect.y, rect.width, rect.height]) bytes.uint(px);
    }
  }
}

/**
 * The steps of a piece. `sourcesOf` gives the sources that a number belongs to. They were planned before, in this piece
 * or in an earlier one, and the steps up to there have been taken. `spool` has their blocks. Throws RangeError where
 * the bytes cannot be steps.
 */
export function* readSteps(
  bytes: ByteReader,
  sourcesOf: (source: number) => StoredSources | undefined,
  spool: SpoolReader,
): Generator<StoredStep> {
  const expected = new Expected();
  while (!bytes.isAtEnd) {
    const tag = bytes.uint();
    if (tag === tags.sources) yield { kind: 'sources', sources: readSources(bytes, expected, spool) };
    else if (tag === tags.frames || tag === tags.tile) {
      const shard = expected.shard + bytes.int();
      expected.shard = shard + 1;
      const costBytes = bytes.uint();
      expected.first += bytes.int();
      const sources = sourcesOf(expected.first);
      if (!sources) throw new RangeError(`Shard ${shard} is of source ${expected.first}, which is not planned`);
      yield { kind: 'shard', shard: { shard, work: readWork(tag, sources, bytes), costBytes } };
    } else throw new RangeError(`There is no step of kind ${tag}`);
  }
}

function readSources(bytes: ByteReader, expected: Expected, spool: SpoolReader): StoredSources {
  const runs = new Float64Array(2 * bytes.uint());
  for (let i = 0; i < runs.length; i += 2) {
    runs[i] = expected.source + bytes.int();
    runs[i + 1] = bytes.uint();
    expected.source = runs[i]! + runs[i + 1]!;
  }
  const flags = bytes.uint();
  const uri = bytes.text();
  const folders = Array.from({ length: bytes.uint() }, () => bytes.text());
  const place = { offset: bytes.uint(), length: bytes.uint() };
  expected.first = runs[0]!;
  const { length: count } = new SourceRuns(runs);
  const outline = { runs, count, uri, folders, hasPreviews: flags % 2 === 1, isPlain: flags >= 2 };
  return new StoredSources(outline, place, spool);
}

function readWork(
  tag: (typeof tags)['frames' | 'tile'],
  sources: StoredSources,
  bytes: ByteReader,
): StoredShard['work'] {
  if (tag === tags.frames) {
    const text = bytes.text();
    return { kind: 'frames', sources, ...(text && { segment: JSON.parse(text) }) };
  }
  const size = { width: bytes.uint(), height: bytes.uint() };
  return {
    ...{ kind: 'tile', sources, size },
    rect: { x: bytes.uint(), y: bytes.uint(), width: bytes.uint(), height: bytes.uint() },
  };
}
