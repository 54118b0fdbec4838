import { checkTurboJpeg } from './formats/turbojpeg.ts';
import { MissingDecoderError } from './missing-decoder-error.ts';
import { findFfmpeg } from './video/process/find-ffmpeg.ts';

/**
 * The decoders that this machine lacks, by whether their packages are installed. Whether they load shows when they are
 * first used.
 */
export function missingDecoders(): MissingDecoderError[] {
  const missing: MissingDecoderError[] = [];
  for (const check of [findFfmpeg, checkTurboJpeg]) {
    try {
      check();
    } catch (error) {
      if (!(error instanceof MissingDecoderError)) throw error;
      missing.push(error);
    }
  }
  return missing;
}
