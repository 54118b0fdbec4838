import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Size } from '@halogrid/geometry';
import type { VideoSegment } from '@halogrid/jobs/shard';
import { plannedSources } from '@halogrid/jobs/testing-planned';
import { createPipeline, cutTiles } from '@halogrid/kernels';
import { packKnown } from '@halogrid/results/known-sums';
import { PlanCounter } from './plan-totals.ts';
import { kindOfSource, type PlanWork } from './plan-work.ts';

const lbp = createPipeline([{ kernel: 'lbp', parameters: {} }]);

function counted(fill: (counter: PlanCounter) => void, grid = { rows: 1, columns: 1 }): PlanWork {
  const counter = new PlanCounter([lbp], { grid, mapFormat: 'none' });
  fill(counter);
  return counter.totals.work;
}

function addTiles(counter: PlanCounter, uri: string, size: Size, tilePx: number): void {
  counter.addSource(0, uri, size, { fileBytes: 5000 });
  for (const rect of cutTiles(size, tilePx))
    counter.addShard({ kind: 'tile', sources: plannedSources([{ index: 0, uri }]), size, rect });
}

test('frames are opened and decoded once each, and some have previews', () => {
  const work = counted((counter) => {
    for (let i = 0; i < 3; i++)
      counter.addSource(i, `file:///${i}.jpg`, { width: 2048, height: 512 }, { fileBytes: 10 });
    const sources = [0, 1, 2].map((index) => ({
      index,
      uri: `file:///${index}.jpg`,
      ...(index !== 1 && { preview: true as const }),
    }));
    counter.addShard({ kind: 'frames', sources: plannedSources(sources) });
  });
  const pixels = 3 * 2 ** 20;
  assert.deepEqual(work, {
    inputs: 3,
    kinds: { jpeg: { units: 3, opens: 3, pixels, bytes: 30 } },
    kernelPixels: { u8: pixels, u16: 0 },
    knownPixels: [],
    bins: 3 * 256,
    previews: 2,
    previewPixels: 2 * 1024 * 256,
    remoteFiles: 0,
    remoteBytes: 0,
  });
});

test('each tile of a PGM or TIFF opens its file and decodes the area that it touches; a JPEG is decoded once', () => {
  const size = { width: 2000, height: 1000 };
  const kindsOf = (name: string) => counted((counter) => addTiles(counter, `file:///${name}`, size, 1000)).kinds;
  // Either tile reads one column of the other.
  assert.deepEqual(kindsOf('a.pgm'), { pnm: { units: 2, opens: 2, pixels: 2 * 1001 * 1000, bytes: 5000 } });
  assert.deepEqual(kindsOf('a.tif'), { tiff: { units: 2, opens: 2, pixels: 2 * 1513 * 1000, bytes: 5000 } });
  assert.deepEqual(kindsOf('a.jpg'), { jpeg: { units: 1, opens: 1, pixels: 2_000_000, bytes: 5000 } });
});

test('a video decodes all frames between those that are chosen', () => {
  const segment = { packet: 100, end: 350 } as VideoSegment;
  const uri = 'http://camera/a.mp4?day=1';
  const work = counted((counter) => {
    const sources = plannedSources([0, 1].map((index) => ({ index, uri })));
    counter.addSource(0, uri, { width: 10, height: 10 }, { fileBytes: 7000 });
    counter.addSource(1, uri, { width: 10, height: 10 });
    counter.addShard({ kind: 'frames', sources, segment });
  });
  assert.deepEqual(work.kinds, { video: { units: 1, opens: 1, pixels: 250 * 100, bytes: 7000 } });
  assert.equal(work.kernelPixels.u8, 200);
  // Planning reads the whole video, and so do nodes.
  assert.equal(work.remoteBytes, 14_000);
});

test('kept sources are not counted as work, and cells have bins of their own', () => {
  const work = counted(
    (counter) => {
      for (const index of [0, 1]) counter.addSource(index, 'file:///a.png', { width: 8, height: 8, pixel: 'u16' });
      counter.addKept(1);
      counter.addShard({ kind: 'frames', sources: plannedSources([{ index: 0, uri: 'file:///a.png' }]) });
    },
    { rows: 2, columns: 3 },
  );
  assert.deepEqual([work.kinds.png?.units, work.bins, work.kernelPixels], [1, 6 * 256, { u8: 0, u16: 64 }]);
});

test('a pipeline whose counts are known computes nothing, and nothing is held for it', () => {
  const pipelines = [lbp, createPipeline([{ kernel: 'ldp', parameters: {} }])];
  const totalsOf = (known?: Uint8Array) => {
    const counter = new PlanCounter(pipelines, { grid: { rows: 1, columns: 1 }, mapFormat: 'none' });
    const uri = 'file:///a.png';
    counter.addSource(0, uri, { width: 8, height: 8 });
    counter.addShard({ kind: 'frames', sources: plannedSources([{ index: 0, uri, ...(known && { known }) }]) });
    return counter.totals;
  };
  const all = totalsOf();
  const bins = new Array<number>(256).fill(0);
  const added = totalsOf(packKnown([{ counted: 0, bins }, undefined]));
  assert.deepEqual(all.work.knownPixels, []);
  assert.deepEqual(added.work, {
    ...all.work,
    knownPixels: [
      { u8: 64, u16: 0 },
      { u8: 0, u16: 0 },
    ],
  });
  assert.equal(added.all.resultsBytes, all.all.resultsBytes - 4 * 256);
});

test('the kind of a source follows from its name', () => {
  const uris = ['file:///a%20b.JPEG', 'https://host/a.tif?x=.mp4', 's3://b/k.mkv', 'file:///noname'];
  assert.deepEqual(uris.map(kindOfSource), ['jpeg', 'tiff', 'video', 'other']);
});
