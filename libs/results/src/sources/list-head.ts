import { resultsVersion, softwareVersion } from '@halogrid/service/version';

const head = { file: 'sources', format: 1 };

/** The head of a list of sources: the first line of sources.jsonl, or metadata of sources.parquet. */
export const listHead = { halogrid: softwareVersion, ...head, resultsVersion };

/**
 * The version of the results in a list with this head. Undefined if it is not the head of a list of sources, or the
 * list has another format.
 */
export function resultsVersionOf(text: string): number | undefined {
  try {
    const { file, format, resultsVersion: version = 1 } = JSON.parse(text);
    return file === head.file && format === head.format && Number.isInteger(version) ? version : undefined;
  } catch {
    return undefined;
  }
}
