import { changedMsOf } from '../stated-version.ts';
import type { CaptureTime } from './capture-time.ts';

/**
 * When a file counts as captured, where its name does not tell: when it was changed last, for a job that goes by that,
 * or else what it states. Undefined where that is not known. `version`, as the file was listed, and `stated` are asked
 * for only where they count.
 */
export function timeOfFile(
  goesByMtime: boolean,
  version: () => string | undefined,
  stated: () => CaptureTime | undefined,
): CaptureTime | undefined {
  return goesByMtime ? changedAt(version()) : stated();
}

function changedAt(version: string | undefined): CaptureTime | undefined {
  const changedMs = version === undefined ? undefined : changedMsOf(version);
  return changedMs === undefined ? undefined : { localMs: changedMs, offsetMinutes: 0 };
}
