// A process that reads slides by OpenSlide and does nothing else, because a damaged slide may bring the library down.
// It takes orders one after another (slide-protocol.ts). It ends with the process that started it, or when that gives
// no more orders.
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { InputError } from '@halogrid/sources/input-error';
import { keepCompiledCode } from '../../keep-compiled-code.ts';
import { MissingDecoderError } from '../../missing-decoder-error.ts';
import { dieWithParent } from '../../video/process/libc.ts';
import { OpenSlides } from './open-slides.ts';
import { loadOpenSlide } from './openslide.ts';
import type { SlideAnswer, SlideOrder } from './slide-protocol.ts';

let slides: OpenSlides | undefined;

function obey(order: SlideOrder): { answer: SlideAnswer; bytes?: Uint8Array } {
  try {
    slides ??= new OpenSlides(loadOpenSlide());
    const { version, library } = slides.openslide;
    if (order.kind === 'version') return { answer: { kind: 'version', version, library } };
    if (order.kind === 'open') return { answer: { kind: 'opened', facts: slides.facts(order.slide) } };
    const bytes = slides.read(order.slide, order.level, order.region);
    return { answer: { kind: 'pixels', bytes: bytes.length }, bytes };
  } catch (error) {
    if (error instanceof InputError) return { answer: { kind: 'refused', error: error.message } };
    if (error instanceof MissingDecoderError) return { answer: { kind: 'missing', error: error.message } };
    throw error;
  }
}

/** Waits until all is taken. */
function write(bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(1, bytes, done);
}

if (import.meta.main) {
  if (process.platform === 'linux') dieWithParent();
  keepCompiledCode();
  for await (const line of createInterface({ input: process.stdin })) {
    const { answer, bytes } = obey(JSON.parse(line));
    const text = Buffer.from(JSON.stringify(answer));
    const head = Buffer.alloc(4);
    head.writeUInt32LE(text.length);
    write(Buffer.concat([head, text]));
    if (bytes) write(bytes);
  }
  process.exit(0);
}
