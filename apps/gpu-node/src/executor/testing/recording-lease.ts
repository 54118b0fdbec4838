import { fileURLToPath } from 'node:url';
import { planVideo } from '@halogrid/imaging';
import { deepKinds, makeVideo, videoKinds } from '@halogrid/imaging/testing-videos';
import { Lease } from '@halogrid/proto';
import { packSources } from '@halogrid/sources/pack-sources';
import { lbp, type TestFolder } from './shard-fixture.ts';

/** A lease of the first segment of a recording with `frames` frames; `name` is one of the known kinds. */
export async function recordingLease(
  folder: TestFolder,
  name: string,
  frames: number,
  lease: Partial<Lease> = {},
  encoder = videoKinds[name] ?? deepKinds[name]!.encoder,
): Promise<Lease> {
  const uri = await folder.put(name, '');
  makeVideo(fileURLToPath(uri), encoder, frames);
  return await leaseOfVideo(folder, uri, lease);
}

/** A lease of the first segment of a video. */
export async function leaseOfVideo(folder: TestFolder, uri: string, lease: Partial<Lease> = {}): Promise<Lease> {
  for await (const part of planVideo(uri, {}, () => ({ aim: 1000, most: 1000 }))) {
    if (part.kind !== 'segment') continue;
    const { start, frames: planned, ...segment } = part.segment;
    const sources = planned.map(({ packet, order }, index) => {
      const place = order === undefined ? { packet } : { packet, order };
      return { index, uri, name: String(index), sizeBytes: 0, place };
    });
    const { packet, pts, dts, position, size } = start;
    const its = { ...segment, packet, position, size, pts: pts ?? undefined, dts: dts ?? undefined, hwaccel: '' };
    return Lease.fromPartial({
      jobId: 'job',
      shard: 1,
      attempt: 1,
      epoch: 1,
      pipeline: { operations: [lbp()] },
      scratch: folder.scratch,
      work: { $case: 'frames', value: { segment: its } },
      sources: packSources(sources),
      ...lease,
    });
  }
  throw new Error('The recording has no segment');
}
