import { findFfmpeg } from '@halogrid/imaging/ffmpeg';
import { ffmpegVersion } from '@halogrid/imaging/plain-ffmpeg';

/** Whether videos can be read here: FFmpeg's version and file, or one sentence with the command that installs it. */
export type VideoFinding = { works: true; ffmpeg: string; path: string } | { works: false; reason: string };

/** Loads FFmpeg in a process of its own, because a broken one may crash it. */
export async function probeVideos(): Promise<VideoFinding> {
  try {
    return { works: true, path: findFfmpeg(), ffmpeg: await ffmpegVersion() };
  } catch (error) {
    return { works: false, reason: (error as Error).message };
  }
}

/** The finding for people. */
export const describeVideos = (videos: VideoFinding): string =>
  videos.works
    ? `work: FFmpeg ${videos.ffmpeg}, ${videos.path}`
    : `no: ${videos.reason.replace(/^Videos cannot be read here: /, '')}`;
