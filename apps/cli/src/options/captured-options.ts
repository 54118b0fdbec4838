import type { CaptureOptions } from '@halogrid/proto';
import { UsageError } from '@halogrid/service';
import { checkCaptureOptions } from '@halogrid/sources/captured';
import type { Command } from 'commander';

/** What the options of `addCapturedOptions` parse to. */
export interface CapturedChoice {
  capturedFrom?: string;
  capturedZone?: string;
  checksum?: boolean;
}

/** The options that say when inputs were captured. */
export function addCapturedOptions(command: Command): Command {
  return command
    .option(
      '--captured-from <pattern>',
      "when inputs were captured, and by which camera: names such as 'cam{camera}/%Y%m%d/%H%M%S', or mtime (default: what files state)",
    )
    .option('--captured-zone <zone>', 'the zone of times that state none: Europe/Berlin, UTC, +02:00');
}

/** Undefined where none was given. Throws UsageError. */
export function capturedOptions({ capturedFrom, capturedZone, checksum }: CapturedChoice): CaptureOptions | undefined {
  if (capturedFrom === undefined && capturedZone === undefined) return undefined;
  if (capturedFrom === '' || capturedZone === '') {
    throw new UsageError(
      `Expected a value for ${capturedFrom === '' ? '--captured-from' : '--captured-zone'} but received ''`,
    );
  }
  const captured = { from: capturedFrom ?? '', zone: capturedZone ?? '' };
  try {
    checkCaptureOptions(captured, checksum === true);
    return captured;
  } catch (error) {
    throw error instanceof RangeError ? new UsageError(error.message) : error;
  }
}
