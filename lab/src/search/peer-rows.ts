import { join } from 'node:path';
import { blocksOfIndex, SearchIndex } from '@halogrid/search';
import type { BenchSearchOptions } from './bench-search-options.ts';
import { row } from './measured-row.ts';
import { measurePeers } from './peers.ts';
import { queryRows } from './search-rows.ts';

/**
 * The most rows for other programs, which hold them in memory several times. Their times are scaled up to all rows.
 */
const peerRowsAtMost = 200_000;

/** Times of NumPy, FAISS and PyTorch, if they are installed, for the first frames of the index. */
export async function peerRows(
  folder: string,
  options: BenchSearchOptions,
  note: (line: string) => void,
): Promise<string[][]> {
  const { catalog, close } = await SearchIndex.open(folder).then((index) => ({
    catalog: index.catalog,
    close: () => index.close(),
  }));
  const { segment } = catalog.segments[0]!;
  const first = blocksOfIndex(catalog).filter((place) => place.segment === 0);
  await close();
  if (first.some(({ width }) => width !== 4)) return [];
  note('Asking NumPy, FAISS and PyTorch, where they are installed …');
  const rows = Math.min(peerRowsAtMost, segment.frames);
  const length = first[0]!.bytes / (4 * first[0]!.frames);
  const peers = await measurePeers({
    file: join(folder, `${segment.name}.bins`),
    rows,
    length,
    queries: queryRows(options).slice(0, options.queries),
    repetitions: options.repetitions,
  });
  const factor = options.frames / rows;
  return peers.map(({ name, seconds }) =>
    row(
      name,
      seconds.map((wall) => ({ wall: wall * factor })),
    ),
  );
}
