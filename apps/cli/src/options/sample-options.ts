import type { BandOptions, ScaleOptions } from '@halogrid/proto';
import { allowedScale, isScale, maxBand } from '@halogrid/proto/sample-options';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';
import { wholeNumber } from './option-values.ts';

/** What the options of `addSampleOptions` parse to. */
export interface SampleChoice {
  band?: BandOptions;
  scale?: ScaleOptions;
}

/** The options that say what of the samples of TIFFs is read. */
export function addSampleOptions(command: Command): Command {
  const bandNumber = wholeNumber('--band', 1, maxBand);
  return command
    .option('--band <n>', 'read this band of TIFFs, from 1, as gray (default: their gray or colours)', (text) => ({
      number: bandNumber(text),
    }))
    .option(
      '--scale <min,max[,type]>',
      'make pixels of the samples of TIFFs: min becomes black, max white, in u8 (default) or u16 (default: as stored)',
      readScale,
    );
}

function readScale(text: string): ScaleOptions {
  const [, min, max, bits = '8'] = /^([^,\s]+),([^,\s]+)(?:,u(8|16))?$/.exec(text) ?? [];
  const scale = { min: Number(min), max: Number(max), bits: Number(bits) };
  if (isScale(scale)) return scale;
  throw new UsageError(sentence`Expected ${allowedScale} for ${named('--scale')} but received '${text}'`);
}
