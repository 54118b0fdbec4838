import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findFfmpeg } from '@halogrid/imaging/ffmpeg';
import { noFfmpeg } from '@halogrid/imaging/testing-videos';
import { describeVideos, probeVideos } from './videos.ts';

test('an installed FFmpeg is loaded and says its version', { skip: noFfmpeg }, async () => {
  const videos = await probeVideos();
  assert.ok(videos.works);
  assert.equal(videos.path, findFfmpeg());
  assert.match(describeVideos(videos), /^work: FFmpeg \d+\.\d+\S*, \/.*node-av\.node$/);
});

test('without FFmpeg, the row shows the reason without repeating its own words', () => {
  const reason = "Videos cannot be read here: the package x is not installed; 'npm install' adds it";
  assert.equal(describeVideos({ works: false, reason }), "no: the package x is not installed; 'npm install' adds it");
});
