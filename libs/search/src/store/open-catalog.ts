import { close, closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { paddedLength } from '../scan/count-arrays.ts';
import { Catalog, type OpenSegment } from './catalog.ts';
import { IndexError } from './index-error.ts';
import { readManifest } from './index-folder.ts';
import type { Manifest, Segment } from './manifest.ts';
import { cellsOfGrid, countsOfCell, type PipelineIdentity } from './pipeline-identity.ts';
import { parseRows } from './row-columns.ts';

/** How often a reader tries to open the segments, if a writer replaces them before they are open. */
const tries = 5;

/**
 * Opens an index for reading: reads and checks its columns, and opens its histograms. It does not change when writers
 * change the index. Rejects with IndexError if there is no index, or it is damaged. It must be closed with
 * `closeCatalog`.
 */
export async function openCatalog(folder: string): Promise<Catalog> {
  for (let left = tries; ; left--) {
    const manifest = await readManifest(folder);
    if (!manifest)
      throw new IndexError(`There is no index in '${folder}': 'halogrid index OUT… --to ${folder}' makes one`);
    const opened: OpenSegment[] = [];
    try {
      for (const segment of manifest.segments) opened.push(openSegment(folder, segment, manifest.pipeline));
      return new Catalog(manifest.pipeline, opened);
    } catch (error) {
      for (const { bins } of opened) closeSync(bins);
      const isGone = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!isGone) throw error;
      if (left === 1) throw lacksFile(folder, error);
    }
  }
}

/**
 * Rejects with IndexError if a file of an index is missing, too long or too short. The caller must be the index's
 * writer. It reads no file, unlike `openCatalog`.
 */
export async function checkLengths(folder: string, { segments, pipeline }: Manifest): Promise<void> {
  for (const segment of segments) {
    const files = [
      { path: join(folder, `${segment.name}.rows`), expected: segment.rows.bytes },
      { path: join(folder, `${segment.name}.bins`), expected: binsBytes(segment, pipeline) },
    ];
    for (const { path, expected } of files) {
      const { size } = await stat(path).catch((error) => {
        throw lacksFile(folder, error);
      });
      if (size !== expected) throw torn(path, size, expected);
    }
  }
}

export function closeCatalog({ segments }: Catalog): void {
  for (const { bins } of segments) close(bins);
}

function openSegment(folder: string, segment: Segment, pipeline: PipelineIdentity): OpenSegment {
  const cells = cellsOfGrid(pipeline);
  const rows = readWhole(join(folder, `${segment.name}.rows`));
  const columns = parseRows(rows, segment, cells, folder);
  const path = join(folder, `${segment.name}.bins`);
  const bins = openSync(path, 'r');
  const expected = binsBytes(segment, pipeline);
  const { size } = fstatSync(bins);
  if (size !== expected) {
    closeSync(bins);
    throw torn(path, size, expected);
  }
  return { segment, columns, bins };
}

function binsBytes({ blocks }: Segment, pipeline: PipelineIdentity): number {
  const frameCounts = cellsOfGrid(pipeline) * paddedLength(countsOfCell(pipeline));
  return blocks.reduce((sum, { frames, width }) => sum + frames * frameCounts * width, 0);
}

const torn = (path: string, size: number, expected: number): IndexError =>
  new IndexError(`'${path}' is torn: it has ${size} of ${expected} bytes; make the index again`);

const lacksFile = (folder: string, cause: unknown): IndexError =>
  new IndexError(`'${folder}' lacks a file that its manifest names: make the index again`, { cause });

/** The bytes of a file, in memory that threads may share. */
function readWhole(path: string): Uint8Array {
  const file = openSync(path, 'r');
  try {
    const bytes = new Uint8Array(new SharedArrayBuffer(fstatSync(file).size));
    for (let at = 0; at < bytes.length; ) {
      const read = readSync(file, bytes, at, bytes.length - at, at);
      if (read === 0) break;
      at += read;
    }
    return bytes;
  } finally {
    closeSync(file);
  }
}
