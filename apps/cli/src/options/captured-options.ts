import type { CaptureOptions } from '@halogrid/proto';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import { CaptureOptionsError, checkCaptureOptions } from '@halogrid/sources/captured';
import type { Command } from 'commander';
import { optionOfField } from '../client/option-of-field.ts';

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
      "when inputs were captured, and by which camera: a pattern of file names such as 'cam{camera}/%Y%m%d/%H%M%S', or mtime (default: what files state)",
    )
    .option('--captured-zone <zone>', 'the zone of times without one: Europe/Berlin, UTC, +02:00');
}

/** The options as a field of the job; undefined if none was given. Throws UsageError. */
export function capturedOptions({ capturedFrom, capturedZone, checksum }: CapturedChoice): CaptureOptions | undefined {
  if (capturedFrom === undefined && capturedZone === undefined) return undefined;
  if (capturedFrom === '' || capturedZone === '') {
    const option = capturedFrom === '' ? '--captured-from' : '--captured-zone';
    throw new UsageError(sentence`Expected a value for ${named(option)} but received ''`);
  }
  const captured = { from: capturedFrom ?? '', zone: capturedZone ?? '' };
  try {
    checkCaptureOptions(captured, checksum === true);
    return captured;
  } catch (error) {
    throw error instanceof CaptureOptionsError ? new UsageError(error.sentence.naming(optionOfField)) : error;
  }
}
