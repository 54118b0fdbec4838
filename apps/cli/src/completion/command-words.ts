import { kernelNames } from '@halogrid/kernels';
import type { Argument, Command, Option } from 'commander';

/** What may be typed in a place: one of some words, the name of a file or folder, or anything. */
export type WantedWord = { words: readonly string[] } | 'file' | 'folder' | 'anything';

export interface OptionWords {
  /** `--out`, and `-o` if there is a short name. */
  names: string[];
  /** undefined: the option takes no value. */
  value: WantedWord | undefined;
  description: string;
}

/** A command, and what can be typed after it. */
export interface CommandWords {
  path: string[];
  summary: string;
  /** Commands below it. */
  below: string[];
  options: OptionWords[];
  argument: WantedWord;
}

/** What can be typed for a program and each of its commands, the program first. */
export function commandWords(
  command: Command,
  path: readonly string[] = [],
  names: readonly string[] = command.commands.map((each) => each.name()),
): CommandWords[] {
  const { commands, registeredArguments: args } = command;
  const own: CommandWords = {
    path: [...path],
    summary: command.summary(),
    below: commands.map((each) => each.name()),
    options: [
      ...command.options.filter(({ hidden }) => !hidden).map(wordsOf),
      { names: ['--help', '-h'], value: undefined, description: 'show help' },
    ],
    argument: argumentOf(args[0], names),
  };
  const all = [own, ...commands.flatMap((each) => commandWords(each, [...path, each.name()], names))];
  if (command.parent !== null) return all;
  own.below.push('help');
  const help = { path: ['help'], summary: 'show help about a command', below: [], options: [] };
  return [...all, { ...help, argument: { words: names } }];
}

function argumentOf(argument: Argument | undefined, names: readonly string[]): WantedWord {
  if (!argument) return 'anything';
  return argument.name() === 'command' ? { words: names } : wantedBy(argument, argument.name());
}

function wordsOf(option: Option): OptionWords {
  const { short, long, description, required, optional, flags } = option;
  const names = [long, short].filter((name) => name !== undefined);
  const placeholder = /[<[]([^>\]]+)/.exec(flags)?.[1] ?? '';
  return { names, value: required || optional ? wantedBy(option, placeholder) : undefined, description };
}

const folders = ['dir', 'folder', 'out'];
const files = ['file', 'source', 'query'];

/** From the choices of the parser, or from the placeholder. */
function wantedBy({ argChoices, parseArg }: Option | Argument, placeholder: string): WantedWord {
  const { choices = argChoices } = (parseArg ?? {}) as { choices?: readonly string[] };
  if (choices) return { words: choices };
  if (placeholder.startsWith('name[:')) return { words: kernelNames };
  // A shell completes the first kind only: the file, for file|url.
  const name = placeholder.replace(/(\|.*|\.\.\.)$/, '');
  return folders.includes(name) ? 'folder' : files.includes(name) ? 'file' : 'anything';
}
