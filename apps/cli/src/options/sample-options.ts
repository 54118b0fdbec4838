import { bandsIn, scaleIn } from '@halogrid/console/words/picture-texts.js';
import type { BandOptions, ScaleOptions } from '@halogrid/proto';
import { allowedBands, allowedScale, areBands, isScale } from '@halogrid/proto/sample-options';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';

/** What the options of `addSampleOptions` parse to. */
export interface SampleChoice {
  band?: BandOptions;
  scale?: ScaleOptions;
}

/** The options that say what of the samples of TIFFs is read. */
export function addSampleOptions(command: Command): Command {
  return command
    .option(
      '--band <n,…|all>',
      'read these bands of TIFFs, from 1, each as gray, or all of them (default: their gray or colours)',
      readBands,
    )
    .option(
      '--scale <min,max[,type]>',
      'make pixels of the samples of TIFFs: min becomes black, max white, in u8 (default) or u16 (default: as stored)',
      readScale,
    );
}

function readBands(text: string): BandOptions {
  const bands = bandsIn(text);
  if (bands && (bands.all || areBands(bands.numbers))) return bands;
  throw new UsageError(
    sentence`Expected ${allowedBands.replace(/,$/, '')}, or all, for ${named('--band')} but received '${text}'`,
  );
}

function readScale(text: string): ScaleOptions {
  const scale = scaleIn(text);
  if (scale && isScale(scale)) return scale;
  throw new UsageError(sentence`Expected ${allowedScale} for ${named('--scale')} but received '${text}'`);
}
