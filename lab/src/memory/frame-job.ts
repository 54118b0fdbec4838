import { linkSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Cluster } from '../../../test/cluster.ts';
import { drawPicture, writePgm } from '../../../test/picture-files.ts';
import { peakResidentBytes } from '../../../test/process-list.ts';

export interface FrameMeasurement {
  frames: number;
  /** For each tenth of the frames. */
  tenths: { framesPerSecond: number; coordinatorBytes: number; nodeBytes: number }[];
}

const size = { width: 64, height: 48 };
/** Different files. The others are links to these, which are listed, opened and decoded like any file. */
const distinctFrames = 1000;

/** Computes histograms of small frames on one node, and measures after every tenth of them. */
export async function measureFrames(folder: string, frames: number): Promise<FrameMeasurement> {
  const source = join(folder, 'source');
  mkdirSync(source, { recursive: true });
  for (let i = 0; i < frames; i++) {
    const path = join(source, `${i}.pgm`);
    if (i < distinctFrames) await writePgm(path, drawPicture(size.width, size.height, i));
    else linkSync(join(source, `${i % distinctFrames}.pgm`), path);
  }
  const cluster = await Cluster.start({ nodes: 1, device: 'cpu' });
  try {
    const jobId = await cluster.jobs.submit({ sources: [source], out: join(folder, 'out') });
    const tenths: FrameMeasurement['tenths'] = [];
    const [coordinator] = cluster.coordinator.pidsOf('coordinator');
    const node = cluster.nodes[0]!.pid;
    let [doneBefore, startedMs] = [0, performance.now()];
    while (tenths.length < 10) {
      await delay(50);
      const { counts, state, error } = await cluster.job(jobId);
      if (error) throw new Error(`The job is ${state}: ${error}`);
      const done = Number(counts!.pixels) / ((size.width - 2) * (size.height - 2));
      if (done < ((tenths.length + 1) * frames) / 10) continue;
      tenths.push({
        framesPerSecond: (done - doneBefore) / ((performance.now() - startedMs) / 1000),
        coordinatorBytes: peakResidentBytes(coordinator!)!,
        nodeBytes: peakResidentBytes(node)!,
      });
      [doneBefore, startedMs] = [done, performance.now()];
    }
    await cluster.jobs.untilEnded(jobId);
    return { frames, tenths };
  } finally {
    await cluster.stop();
  }
}

/** A row for every tenth, as a table of Markdown. */
export function describeFrames({ frames, tenths }: FrameMeasurement): string {
  const rows = tenths.map(({ framesPerSecond, coordinatorBytes, nodeBytes }, i) => [
    ((i + 1) * frames) / 10,
    Math.round(framesPerSecond),
    Math.round(coordinatorBytes / 1e6),
    Math.round(nodeBytes / 1e6),
  ]);
  const head = ['frames done', 'frames/s since the row above', 'coordinator MB', 'node MB'];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}
