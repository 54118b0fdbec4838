// Runs in a worker thread: opens, decodes and closes images as the ImageThreads of the process order.
import { workerData } from 'node:worker_threads';
import { restrictSources } from '@halogrid/sources';
import { serveOrders } from '@halogrid/threads';
import { openImage } from '../open-image.ts';
import type { OpenImage } from '../planes/image.ts';
import {
  type ImageAnswer,
  type ImageOrder,
  type ImageThreadSetup,
  type OpenedImage,
  packImageError,
} from './image-orders.ts';
import { memoryAt } from './native-memory.ts';

const { access } = workerData as ImageThreadSetup;
restrictSources(access);

const images = new Map<number, OpenImage>();

serveOrders(
  async (order: ImageOrder): Promise<ImageAnswer> => {
    const opened = await obey(order);
    const { inputBytes = 0, mended } = images.get(order.image) ?? {};
    return { inputBytes, mended, opened };
  },
  { pack: packImageError },
);

async function obey(order: ImageOrder): Promise<OpenedImage | undefined> {
  if (order.kind === 'open') {
    const image = await openImage(order.uri, order.read);
    images.set(order.image, image);
    return describe(image);
  }
  const image = images.get(order.image)!;
  switch (order.kind) {
    case 'decode': {
      const { address, length, ...to } = order.to;
      await image.decode(order.region, { ...to, bytes: memoryAt(address, length) });
      return;
    }
    case 'copy':
      await image.copy!.write(order.path, order.channels);
      return;
    case 'close':
      images.delete(order.image);
      await image.close();
  }
}

function describe(image: OpenImage): OpenedImage {
  const { format, width, height, pixel, readsRegions, version, captured, place, noData, samples, isConverted, copy } =
    image;
  const known = { format, width, height, pixel, readsRegions, version, captured, place, noData, samples, isConverted };
  return copy ? { ...known, copyBytes: { gray: copy.bytes('gray'), rgb: copy.bytes('rgb') } } : known;
}
