import { type BorderMode, borderModes, ParameterError, parseBorderMode } from '@halogrid/kernels';
import { UsageError } from '@halogrid/service';

/** Parses the value of --border for commander: a mode, or what other libraries call it. Throws UsageError. */
export const readBorder = Object.assign(readMode, { choices: borderModes });

function readMode(text: string): BorderMode {
  try {
    return parseBorderMode(text);
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error;
    throw new UsageError(`Expected one of ${borderModes.join(', ')} for --border but received '${text}'`);
  }
}
