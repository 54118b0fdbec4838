// Runs in a worker thread: opens, decodes and closes images as the ImageThread of the process orders.
import { parentPort, workerData } from 'node:worker_threads';
import { InputError, restrictSources } from '@halogrid/sources';
import { endWhenAsked } from '@halogrid/threads';
import { MissingDecoderError } from '../missing-decoder-error.ts';
import { type OpenImage, openImage } from '../open-image.ts';
import type { ImageAnswer, ImageOrder, ImageThreadSetup, OpenedImage, SentError } from './image-orders.ts';
import { memoryAt } from './native-memory.ts';

const port = parentPort!;
endWhenAsked(port);
const { access } = workerData as ImageThreadSetup;
restrictSources(access);

const images = new Map<number, OpenImage>();
/** Of this turn of the event loop: one message for all of them. */
let answers: ImageAnswer[] = [];

port.on('message', (orders: ImageOrder[]) => {
  for (const order of orders) void answer(order);
});

async function answer(order: ImageOrder): Promise<void> {
  const { id, image } = order;
  const outcome = await obey(order).then(
    (opened) => ({ opened }),
    (error) => ({ error: sent(error) }),
  );
  const inputBytes = images.get(image)?.inputBytes ?? 0;
  if (answers.push({ id, inputBytes, ...outcome }) === 1) setImmediate(flush);
}

function flush(): void {
  port.postMessage(answers);
  answers = [];
}

async function obey(order: ImageOrder): Promise<OpenedImage | undefined> {
  if (order.kind === 'open') {
    const image = await openImage(order.uri);
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

function describe({ format, width, height, pixel, version, readsRegions, copy }: OpenImage): OpenedImage {
  const known = { format, width, height, pixel, readsRegions, ...(version !== undefined && { version }) };
  return copy ? { ...known, copyBytes: { gray: copy.bytes('gray'), rgb: copy.bytes('rgb') } } : known;
}

function sent(error: unknown): SentError {
  if (error instanceof InputError) {
    const { message, stage, fault, mayPass } = error;
    return { message, input: { stage, fault, mayPass } };
  }
  if (error instanceof MissingDecoderError) return { message: error.message, decodes: error.decodes };
  return { message: error instanceof Error ? error.message : String(error) };
}
