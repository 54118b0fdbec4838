import type { SourceFilter } from '@halogrid/proto';
import { allowedColumns, isColumn } from '@halogrid/proto/column';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import { checkFilter, FilterError } from '@halogrid/sources/filter';
import type { Command } from 'commander';
import { optionOfField } from '../client/option-of-field.ts';
import { collect } from './option-values.ts';

/** What the options of `addFilterOptions` parse to. */
export interface FilterChoice {
  include?: string[];
  exclude?: string[];
  column?: string;
}

/** The options that say which of the sources' inputs count. */
export function addFilterOptions(command: Command): Command {
  return command
    .option(
      '--include <glob>',
      "only inputs that a glob fits: '*.png' at any depth, 'cam1/**' from the folder on; repeat it for each (default: all)",
      collect,
    )
    .option('--exclude <glob>', 'no inputs that a glob fits; repeat it for each', collect)
    .option(
      '--column <name>',
      'the column of Parquet files that has images, as image.bytes (default: the only one)',
      readColumn,
    );
}

function readColumn(text: string): string {
  if (isColumn(text)) return text;
  throw new UsageError(sentence`Expected ${allowedColumns} for ${named('--column')} but received '${text}'`);
}

/** The options as a field of the job; undefined if none was given. Throws UsageError. */
export function filterOptions({ include = [], exclude = [] }: FilterChoice): SourceFilter | undefined {
  if (include.length + exclude.length === 0) return undefined;
  try {
    checkFilter({ include, exclude });
    return { include, exclude };
  } catch (error) {
    throw error instanceof FilterError ? new UsageError(error.sentence.naming(optionOfField)) : error;
  }
}
