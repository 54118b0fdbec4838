import { HalogridError } from '@halogrid/client';
import { UsageError } from '@halogrid/service';
import { CommanderError } from 'commander';
import { CallRefusal } from '../client/call-refusal.ts';
import { failureOf } from '../options/failure.ts';
import { nameInProgram } from './name-in-program.ts';

/**
 * An error for programs. Wrong use is a HalogridError with the names that programs use, and the option as `field`;
 * other errors are returned unchanged.
 */
export function typedError(error: unknown): unknown {
  const isRefusal = error instanceof UsageError || error instanceof CommanderError || error instanceof CallRefusal;
  if (!isRefusal) return error;
  const { code, sentence, field } = failureOf(error);
  const named = { field: field === undefined ? undefined : nameInProgram(field), cause: error };
  return new HalogridError(code, String(sentence.naming(nameInProgram)), named);
}
