// Runs in a process of its own, for a coordinator: searches, and decodes what anybody may have made.
import { rmSync } from 'node:fs';
import { Refusal, type RefusalKind } from '@halogrid/jobs/refusal';
import { readsParts } from '@halogrid/results/region-picture';
import { IndexError, type OpenScan, SharedScan, UnknownCamera } from '@halogrid/search';
import { InputError, restrictSources, SourceForbiddenError } from '@halogrid/sources';
import { findCameraChanges } from './find-camera-changes.ts';
import { findFrames } from './find-frames.ts';
import { framePicture } from './frame-picture.ts';
import { indexStatus, listFrames } from './list-frames.ts';
import { NodeCourier } from './node-courier.ts';
import { OpenIndexes } from './open-indexes.ts';
import type { Order, OrderKind, Orders, PartQuestion, PartReply, RetrievalAnswer, Searched, Setup } from './orders.ts';
import { readHistograms } from './read-histograms.ts';
import { sourcePicture } from './source-picture.ts';
import { sumCells } from './sum-cells.ts';
import { Tickets } from './tickets.ts';

// Its coordinator is gone, or has no more use for it.
process.once('disconnect', () => process.exit());
// Ctrl-C reaches all processes of a terminal, and this one ends with its coordinator.
process.on('SIGINT', () => {});

process.once('message', ({ access, secret, folder }: Setup) => {
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  restrictSources({ ...access, roots: access.roots && [...access.roots, folder] });
  const tickets = new Tickets(secret);
  const courier = new NodeCourier(send);
  /** Who looked in the search that goes on: one comes after another. */
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
        return findCameraChanges(order.folder, order.request, tickets);
      case 'cells':
        return sumCells(order.folder, order.name);
      case 'histograms':
        return readHistograms(order);
      case 'picture':
        return framePicture(order, tickets);
      case 'readsParts':
        return readsParts(order.uri);
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

function send(message: RetrievalAnswer | PartQuestion): void {
  process.send!(message);
}

function kindOf(error: Error): { kind?: RefusalKind; field?: string } {
  if (error instanceof Refusal) return { kind: error.kind, ...(error.field !== undefined && { field: error.field }) };
  if (error instanceof SourceForbiddenError) return { kind: 'forbidden' };
  if (error instanceof UnknownCamera) return { kind: 'missing' };
  return error instanceof InputError || error instanceof IndexError ? { kind: 'unmet' } : {};
}
