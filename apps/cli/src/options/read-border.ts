import { type BorderMode, borderModes, didYouMean, ParameterError, parseBorderMode } from '@halogrid/kernels';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';

/** Parses the value of --border for commander: a mode, or its name in other libraries. Throws UsageError. */
export const readBorder = Object.assign(readMode, { choices: borderModes });

function readMode(text: string): BorderMode {
  try {
    return parseBorderMode(text);
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    throw new UsageError(
      sentence`Expected one of ${borderModes.join(', ')} for ${named('--border')} but received '${text}'${didYouMean(text, borderModes)}`,
    );
  }
}
