import { changedMsOf } from '../stated-version.ts';
import type { CaptureTime } from './capture-time.ts';

/**
 * When a file was captured, if its name does not tell: its last change, for a job that wants that, or else the time
 * that it states. Undefined if not known. `version`, as the file was listed, and `stated` are read only if they count.
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
