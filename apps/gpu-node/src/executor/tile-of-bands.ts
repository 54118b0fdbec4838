import type { Size } from '@halogrid/geometry';
import { planesOf } from '@halogrid/imaging';
import type { CopyRect } from '@halogrid/kernels';
import { settleAll } from '@halogrid/threads';
import { BandInDoubt, type JpegBands } from './jpeg-bands.ts';
import type { DecodedPlanes, ImageContent, Reserve } from './plane-cache.ts';
import type { ShardRun } from './shard-run.ts';
import type { LeasedSource } from './unpack-lease.ts';

/** Part of a band, and where it goes. */
interface BandPart {
  /** The first row of the band. */
  y: number;
  /** Positions within the band. */
  copies: CopyRect[];
}

/**
 * The bands of rows from which a tile of `rows` rows can be put together. Undefined if the source is not decoded in
 * bands, a band is in doubt, or the tile needs more bands than nodes hold.
 */
export async function bandsOfSource(
  { job: { channels, read }, means: { banded } }: ShardRun,
  source: LeasedSource,
  version: string,
  size: Size,
  tileRows: number,
): Promise<JpegBands | undefined> {
  // Only opening the image tells whether it has the samples that the job reads.
  if (read) return undefined;
  const bands = await banded?.open({ uri: source.uri, version: source.version }, size, version, channels);
  if (!banded || !bands || bands.isInDoubt) return undefined;
  const { width, height } = bands.index.frame;
  if (width !== size.width || height !== size.height) return undefined;
  const rows = Math.min(height, tileRows + 2 * bands.rows);
  const samples = planesOf(channels);
  // If a tile needed more bands than fit in memory, they would be decoded again for each neighbouring tile.
  return samples * width * rows <= banded.planes.limitBytes ? bands : undefined;
}

/**
 * Decodes the bands that `copies` touch, unless they are cached, and has `copy` copy from each. Rejects with
 * BandInDoubt.
 */
export async function copyFromBands(
  { job: { channels }, means: { banded, meters }, turn }: ShardRun,
  bands: JpegBands,
  key: string,
  copies: readonly CopyRect[],
  copy: (planes: DecodedPlanes, copies: readonly CopyRect[]) => void,
): Promise<void> {
  const load = async (y: number, reserve: Reserve): Promise<ImageContent> => {
    const { width } = bands.index.frame;
    const rows = bands.rowsFrom(y);
    await reserve(width * rows * planesOf(channels));
    const { bytes, inputBytes, giveBack } = await banded!.limit(() =>
      meters.decode.during(() => bands.decode(y, channels)),
    );
    turn.inputBytes += inputBytes;
    return { kind: 'planes', width, height: rows, pixel: 'u8', bytes, giveBack };
  };
  await settleAll(
    bandPartsOf(copies, bands).map(async ({ y, copies: own }) => {
      const { content, release } = await banded!.planes.borrow(`${key} from row ${y}`, (reserve) => load(y, reserve));
      try {
        if (content.kind !== 'planes') throw new BandInDoubt('A band has no planes');
        copy(content, own);
      } finally {
        release();
      }
    }),
  );
}

/** What to copy from each band. */
export function bandPartsOf(copies: readonly CopyRect[], { rows }: Pick<JpegBands, 'rows'>): BandPart[] {
  const parts = new Map<number, CopyRect[]>();
  for (const { from, to } of copies) {
    const end = from.y + from.height;
    for (let y = from.y - (from.y % rows); y < end; y += rows) {
      const top = Math.max(from.y, y);
      const height = Math.min(end, y + rows) - top;
      const part = { from: { ...from, y: top - y, height }, to: { ...to, y: to.y + top - from.y } };
      parts.set(y, [...(parts.get(y) ?? []), part]);
    }
  }
  return [...parts].map(([y, own]) => ({ y, copies: own }));
}
