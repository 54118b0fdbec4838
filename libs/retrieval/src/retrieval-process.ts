// Runs in a separate process for a coordinator: it searches, and decodes files that anybody may have made.
import { rmSync } from 'node:fs';
import { Refusal, type RefusalKind } from '@halogrid/jobs/refusal';
import type { FrameHistograms } from '@halogrid/proto';
import { PlaceError } from '@halogrid/results/place';
import { readsParts, regionPicture } from '@halogrid/results/region-picture';
import { thumbnail } from '@halogrid/results/thumbnails';
import {
  cellsOfGrid,
  countsOfCell,
  IndexError,
  type OpenScan,
  readFeatures,
  readFinishedJob,
  SharedScan,
  UnknownCamera,
} from '@halogrid/search';
import { InputError, restrictSources, SourceForbiddenError } from '@halogrid/sources';
import { allowedPlace } from './allowed-place.ts';
import { checkCounts } from './check-counts.ts';
import { findCameraChanges } from './find-camera-changes.ts';
import { findFrames } from './find-frames.ts';
import { framePicture } from './frame-picture.ts';
import { indexStatus, listFrames } from './list-frames.ts';
import { NodeCourier } from './node-courier.ts';
import { OpenIndexes } from './open-indexes.ts';
import type {
  Order,
  OrderKind,
  Orders,
  PartQuestion,
  PartReply,
  PngPicture,
  RetrievalAnswer,
  Searched,
  Setup,
} from './orders.ts';
import { readHistograms } from './read-histograms.ts';
import { Tickets } from './tickets.ts';

// The coordinator is gone, or has no more use for this process.
process.once('disconnect', () => process.exit());
// Ctrl-C reaches all processes of a terminal, but this one ends with its coordinator.
process.on('SIGINT', () => {});

process.once('message', ({ access, secret, folder }: Setup) => {
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  restrictSources({ ...access, roots: access.roots && [...access.roots, folder] });
  const tickets = new Tickets(secret);
  const courier = new NodeCourier(send);
  /** Which nodes looked in the current search. Searches run one after another. */
  let work: Pick<Searched, 'looked' | 'failed'> = { looked: [], failed: [] };
  const sharedScan =
    (folder: string): OpenScan =>
    async (catalog) =>
      new SharedScan(catalog, {
        nodes: courier.forIndex(folder, catalog),
        note: (node, why) => work.failed.push({ node, why }),
        looked: (part) => work.looked.push(part),
      });
  const indexes = new OpenIndexes(sharedScan);
  const search = async ({ folder: of, request, nodes }: Orders['search']['order']): Promise<Searched> => {
    courier.nodes = nodes;
    work = { looked: [], failed: [] };
    const begin = performance.now();
    const response = await findFrames(await indexes.at(of), request, tickets, folder);
    return { response, seconds: (performance.now() - begin) / 1000, ...work };
  };
  const answer = async ({ kind, order }: Order): Promise<Orders[OrderKind]['answer']> => {
    switch (kind) {
      case 'indexes': {
        const statuses = [];
        for (const { name, folder } of order) statuses.push(await indexStatus(name, () => indexes.at(folder)));
        return statuses;
      }
      case 'frames':
        return listFrames(await indexes.at(order.folder), order.request, tickets);
      case 'search':
        return search(order);
      case 'changes':
        return findCameraChanges(order.place, order.request, tickets);
      case 'cells':
        return sumCells(order.place, order.name);
      case 'histograms':
        return readHistograms(order);
      case 'picture':
        return framePicture(order, tickets);
      case 'readsParts':
        return readsParts(order);
      case 'region':
        return sourcePicture(order);
    }
  };
  process.on('message', (order: Order | PartReply) => {
    if ('part' in order) return courier.replied(order);
    answer(order).then(
      (answer) => send({ id: order.id, answer }),
      (error: Error) => send({ id: order.id, sentence: error.message, ...kindOf(error) }),
    );
  });
});

/**
 * The histogram of each cell of the grid, summed over all sources of the job whose output is at `place`. `name` is the
 * name of a pipeline if the job has several. Sums are exact, because they are below 2^53. Rejects with Refusal or
 * IndexError.
 */
async function sumCells(place: string, name: string | undefined): Promise<FrameHistograms> {
  const job = await readFinishedJob(place, name);
  // The folder may be read, but a link in it may lead elsewhere.
  await allowedPlace(job.features);
  const { grid, channels } = job.pipeline;
  const bins = countsOfCell(job.pipeline);
  const count = cellsOfGrid(job.pipeline);
  checkCounts(count, bins);
  const sums = new Float64Array(count * bins);
  for await (const frame of readFeatures(job)) {
    for (let i = 0; i < sums.length; i++) sums[i]! += frame.bins[i]!;
  }
  const cells = Array.from({ length: count }, (_, i) => ({
    bins: Array.from(sums.subarray(i * bins, (i + 1) * bins)),
  }));
  return { ...grid, channels: [...channels], cells };
}

/** A picture of an image, of a region of it, or of a frame of a video. Rejects as sources do. */
async function sourcePicture({ region, side, ...shown }: Orders['region']['order']): Promise<PngPicture> {
  const { png, of } =
    region && shown.videoFrame === undefined
      ? await regionPicture(shown, region, side)
      : await thumbnail(shown, { width: side, height: side });
  return { png, ...of };
}

function send(message: RetrievalAnswer | PartQuestion): void {
  process.send!(message);
}

function kindOf(error: Error): { kind?: RefusalKind; field?: string } {
  if (error instanceof Refusal) return { kind: error.kind, field: error.field };
  if (error instanceof SourceForbiddenError) return { kind: 'forbidden' };
  if (error instanceof UnknownCamera) return { kind: 'missing' };
  if (error instanceof PlaceError) return { kind: 'unavailable' };
  return error instanceof InputError || error instanceof IndexError ? { kind: 'unmet' } : {};
}
