import { findFfmpeg } from '@halogrid/imaging/ffmpeg';
import { ffmpegVersion } from '@halogrid/imaging/plain-ffmpeg';

/** Whether videos are read here: FFmpeg's version and its file, or one sentence with the command that adds it. */
export type VideoFinding = { works: true; ffmpeg: string; path: string } | { works: false; reason: string };

/** Loads FFmpeg in a process of its own, which a broken one may take along. */
export async function probeVideos(): Promise<VideoFinding> {
  try {
    return { works: true, path: findFfmpeg(), ffmpeg: await ffmpegVersion() };
  } catch (error) {
    return { works: false, reason: (error as Error).message };
  }
}

/** What a person reads of it. */
export const describeVideos = (videos: VideoFinding): string =>
  videos.works
    ? `work: FFmpeg ${videos.ffmpeg}, ${videos.path}`
    : `no: ${videos.reason.replace(/^Videos cannot be read here: /, '')}`;
