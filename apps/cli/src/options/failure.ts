import { type ErrorCode, HalogridError } from '@halogrid/client/errors';
import { Sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service/usage-error';
import { CommanderError } from 'commander';
import { CallRefusal } from '../client/call-refusal.ts';
import { optionOfField } from '../client/option-of-field.ts';

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
    const { code, sentence, field } = error;
    return {
      code,
      sentence: sentence.naming(optionOfField),
      field: field === undefined ? undefined : optionOfField(field),
    };
  }
  const code = error instanceof HalogridError ? error.code : 'UNKNOWN';
  if (error instanceof CallRefusal) return { code, sentence: error.sentence, field: error.field };
  return { code, sentence: new Sentence([error instanceof Error ? error.message : String(error)]) };
}

/** An error about `--opt=value`, where the option is unknown or a flag. */
const unknownWithValue = /^error: unknown option '(--[\w-]+)=(.*)'(?:\s*\(Did you mean (.*)\?\))?$/s;

/** Turns an error of commander (`error: unknown option '--jsn'\n(Did you mean --json?)`) into one sentence. */
export function usageSentence(message: string): string {
  const [, option, value, meant] = unknownWithValue.exec(message) ?? [];
  if (option !== undefined && option === meant) return `Expected no value for ${option} but received '${value}'`;
  if (option !== undefined) return `Unknown option '${option}'${meant ? ` (did you mean ${meant}?)` : ''}`;
  const text = message
    .replace(/^error: /, '')
    .replace(/\s*\n\(Did you mean (.*)\?\)$/s, ' (did you mean $1?)')
    .replace(/\. Expected (.*)\.$/, ': expected $1')
    .replace(/^required option '(.*)' not specified$/, "missing option '$1'")
    .replace(/^option '(.*)' argument missing$/, "missing value of option '$1'")
    .replace(/\s+/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}
