import { type ErrorCode, HalogridError } from '@halogrid/client/errors';
import { Sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service/usage-error';
import { CommanderError } from 'commander';
import { CallRefusal } from '../client/call-refusal.ts';
import { optionOfField } from '../client/option-of-field.ts';
import { usageSentence } from './usage-sentence.ts';

/** Why a command failed, with the names of the command line. */
export interface CommandFailure {
  /** The code that errors of the API have. */
  code: ErrorCode;
  sentence: Sentence;
  /** The wrong option. */
  field?: string | undefined;
}

/** The failure of a command that threw `error`. */
export function failureOf(error: unknown): CommandFailure {
  if (error instanceof CommanderError) {
    const sentence = new Sentence(usageSentence(error.message).split(/(--\w[\w-]*)/));
    return { code: 'INVALID_ARGUMENT', sentence, field: sentence.field };
  }
  if (error instanceof UsageError) {
    const { sentence, field } = error;
    return {
      code: 'INVALID_ARGUMENT',
      sentence: sentence.naming(optionOfField),
      field: field === undefined ? undefined : optionOfField(field),
    };
  }
  const code = error instanceof HalogridError ? error.code : 'UNKNOWN';
  if (error instanceof CallRefusal) return { code, sentence: error.sentence, field: error.field };
  return { code, sentence: new Sentence([error instanceof Error ? error.message : String(error)]) };
}
