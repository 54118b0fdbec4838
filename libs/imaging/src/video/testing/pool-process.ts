// For tests: begins two segments of a video, says which processes decode them, and waits to be killed.
import { pathToFileURL } from 'node:url';
import { DecoderPool } from '../decoder-pool.ts';
import { planVideo } from '../plan-video.ts';
import { openVideoFile } from '../video-file.ts';
import { videoProcesses } from './video-processes.ts';

const uri = pathToFileURL(process.argv[2]!).href;
const pool = new DecoderPool({ processes: 2 });
const file = await openVideoFile(uri);
const parts = await Array.fromAsync(planVideo(uri, {}, () => ({ aim: 20, most: 40 })));
for (const part of parts.filter(({ kind }) => kind === 'segment').slice(0, 2)) {
  if (part.kind !== 'segment') continue;
  const decoder = await pool.decode(file, { ...part.segment, wanted: part.segment.frames, hwaccel: '' });
  await decoder.next();
}
process.send!(videoProcesses());
