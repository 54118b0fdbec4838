// How a process that reads a video ends, and what is said to be at fault.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { indexVideo } from './index-video.ts';
import { SegmentDecoder } from './segment-decoder.ts';
import { newVideoProcesses } from './testing/video-processes.ts';
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
    const started = newVideoProcesses();
    const decoder = new SegmentDecoder(file, { start, strictFrom: 0, end: 1, wanted: [{ packet: 0 }], hwaccel: '' });
    const event = decoder.next();
    event.catch(() => {});
    await file.asked;
    process.kill(started()[0]!, signal);
    await assert.rejects(event, expected);
    await decoder.close();
  });
}

test('Ctrl-C in a terminal is not for it: it is in a process group of its own', async () => {
  const file = silentFile();
  const started = newVideoProcesses();
  const decoder = new SegmentDecoder(file, { start, strictFrom: 0, end: 1, wanted: [{ packet: 0 }], hwaccel: '' });
  decoder.next().catch(() => {});
  await file.asked;
  // Behind the name in parentheses: state, parent, group.
  const [child] = started();
  const [, , group] = readFileSync(`/proc/${child}/stat`, 'utf8').split(') ')[1]!.split(' ');
  assert.equal(Number(group), child);
  await decoder.close();
});

/** Has processes that start from now on find no package of FFmpeg. */
function hideFfmpeg(): void {
  const program = `
    import Module from 'node:module';
    const resolve = Module._resolveFilename;
    Module._resolveFilename = (name, ...rest) => resolve(name.startsWith('@seydx/') ? name + '-not-here' : name, ...rest);`;
  process.env.NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(program)}`;
}

test('a process that finds no FFmpeg says how to get it', async (t) => {
  const options = process.env.NODE_OPTIONS;
  t.after(() => {
    if (options === undefined) delete process.env.NODE_OPTIONS;
    else process.env.NODE_OPTIONS = options;
  });
  hideFfmpeg();
  await assert.rejects(indexVideo(silentFile()).next(), {
    name: 'MissingDecoderError',
    message:
      /^Videos cannot be read here: the package @seydx\/node-av-linux-\w+ is not installed; 'npm install' adds it$/,
  });
});
