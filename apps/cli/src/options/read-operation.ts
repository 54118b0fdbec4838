import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseOperation } from '@halogrid/kernels';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';

/** Parameters that are the name of a file on the command line, and the content of that file in a job. */
export const parametersInFiles: readonly string[] = ['matrix'];

/** A matrix of side 31 with all digits of its numbers takes half of this. */
const maxMatrixFileBytes = 65_536;

/**
 * Parses an --op. The matrix of a convolution is the name of a JSON file, seen from `folder`, and is replaced by its
 * text. Throws UsageError or ParameterError.
 */
export function readOperation(text: string, folder: string): { kernel: string; parameters: Record<string, string> } {
  const { kernel, parameters } = parseOperation(text);
  const { matrix, border } = parameters;
  if (border !== undefined) {
    throw new UsageError(
      sentence`Expected ${named('--border')} ${border}, which holds for every kernel, but received '${text}' for ${named('--op')}`,
      { field: '--op' },
    );
  }
  return matrix === undefined
    ? { kernel, parameters }
    : { kernel, parameters: { ...parameters, matrix: readMatrix(matrix, folder) } };
}

function readMatrix(file: string, folder: string): string {
  let text: string;
  try {
    text = readFileSync(resolve(folder, file), 'utf8');
  } catch (error) {
    throw new UsageError(
      `Expected a JSON file for conv:matrix but '${file}' cannot be read (${(error as Error).message})`,
    );
  }
  if (text.length > maxMatrixFileBytes) {
    throw new UsageError(
      `Expected a JSON file of at most ${maxMatrixFileBytes} bytes for conv:matrix but '${file}' has ${text.length}`,
    );
  }
  try {
    // Without white space, so that an error that quotes it is one line.
    return JSON.stringify(JSON.parse(text));
  } catch (error) {
    const why = (error as Error).message.replaceAll(/\s+/g, ' ');
    throw new UsageError(`Expected rows of finite numbers in JSON for conv:matrix but '${file}' is not JSON: ${why}`);
  }
}
