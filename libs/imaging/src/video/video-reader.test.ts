// How a process that reads a video ends, and who is told to be at fault.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SegmentDecoder } from './video-child.ts';
import type { VideoFile } from './video-file.ts';

const start = { packet: 0, pts: 0, dts: 0, position: 0, size: 1, isKey: true, isClean: true, isHidden: false };

/** A file whose bytes never come; `asked` settles when they are waited for. */
function silentFile(): VideoFile & { asked: Promise<void> } {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const read = () => {
    resolve();
    return new Promise<Uint8Array>(() => {});
  };
  return { version: '1', access: { sizeBytes: 1000 }, read, checkVersion: async () => {}, close: () => {}, asked };
}

const child = (): number =>
  Number(readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ')[0]);

for (const { signal, expected } of [
  {
    signal: 'SIGSEGV',
    expected: { name: 'DecoderBrokeError', message: 'The decoder broke down: it was ended by SIGSEGV' },
  },
  {
    signal: 'SIGABRT',
    expected: { name: 'DecoderBrokeError', message: 'The decoder broke down: it was ended by SIGABRT' },
  },
  { signal: 'SIGKILL', expected: { name: 'Error', message: 'it was ended by SIGKILL' } },
] as const) {
  test(`a process that ${signal} ends is not the input's fault`, async () => {
    const file = silentFile();
    const decoder = new SegmentDecoder(file, { start, strictFrom: 0, end: 1, wanted: [{ packet: 0 }], hwaccel: '' });
    const event = decoder.next();
    event.catch(() => {});
    await file.asked;
    process.kill(child(), signal);
    await assert.rejects(event, expected);
    await decoder.close();
  });
}
