import { resultsVersion, softwareVersion } from '@halogrid/service/version';

const head = { file: 'sources', format: 1 };

/** What the list of sources says of itself: the first line of sources.jsonl, the metadata of sources.parquet. */
export const listHead = { halogrid: softwareVersion, ...head, resultsVersion };

/**
 * The version of the results that a list with that head is of; undefined where it is no such list, or of another
 * format.
 */
export function resultsVersionOf(text: string): number | undefined {
  try {
    const { file, format, resultsVersion: version = 1 } = JSON.parse(text);
    return file === head.file && format === head.format && Number.isInteger(version) ? version : undefined;
  } catch {
    return undefined;
  }
}
