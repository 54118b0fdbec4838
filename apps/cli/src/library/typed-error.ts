import { HalogridError } from '@halogrid/client';
import { ParameterError } from '@halogrid/kernels';
import { UsageError } from '@halogrid/service';
import { CommanderError } from 'commander';
import { usageSentence } from '../options/usage-sentence.ts';

/** An error as programs get it: what is wrong of a call is INVALID_ARGUMENT, and `field` the option. */
export function typedError(error: unknown): unknown {
  const isUsage = error instanceof UsageError || error instanceof ParameterError;
  if (!isUsage && !(error instanceof CommanderError)) return error;
  const message = isUsage ? error.message : usageSentence(error.message);
  const option = /(?:for|option) '?--([a-z-]+)/.exec(message)?.[1];
  const field = option?.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return new HalogridError('INVALID_ARGUMENT', message, { field, cause: error });
}
