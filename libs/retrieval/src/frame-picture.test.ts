import assert from 'node:assert/strict';
import { test } from 'node:test';
import { thumbnail } from '@halogrid/results/thumbnails';
import { setEnvironment } from '@halogrid/sources/testing-files';
import { startTestS3 } from '@halogrid/sources/testing-servers';
import { framePicture } from './frame-picture.ts';
import { Tickets } from './tickets.ts';

test('the map of a frame is found in the bucket of its job', async (t) => {
  const options = { accessKeyId: 'AK', secretAccessKey: 'SK', region: 'us-east-1', bucket: 'results' };
  const store = await startTestS3(options);
  t.after(() => store.close());
  setEnvironment(t, store.environment);
  const uri = new URL('../../../samples/frames/street-00.jpg', import.meta.url).href;
  const { png } = await thumbnail({ uri }, { width: 60, height: 60 });
  const lines = [
    { file: 'sources', format: 1 },
    { uri, name: 'a b', width: 1, height: 1, counted: 1, digest: '' },
  ];
  store.objects.set('job/sources.jsonl', Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join('')));
  store.objects.set('job/preview/a b.png', Buffer.from(png));
  const tickets = new Tickets(Buffer.alloc(32));
  const ticket = tickets.sign({ uri, frame: 0, isVideo: false, read: {}, out: 's3://results/job' });
  const { width, height } = await framePicture({ ticket, of: 'map', side: 32 }, tickets);
  assert.equal(Math.max(width, height), 60, 'the size of the preview');
  store.objects.delete('job/preview/a b.png');
  await assert.rejects(framePicture({ ticket, of: 'map', side: 32 }, tickets), { kind: 'missing' });
});
