import { allowedLevels, canonicalLevel } from '@halogrid/proto/level';
import { named, sentence } from '@halogrid/proto/sentence';
import { UsageError } from '@halogrid/service';
import type { Command } from 'commander';

/** What the option of `addLevelOption` parses to. */
export interface LevelChoice {
  level?: string;
}

/** The option that says which level of pyramids is read. */
export function addLevelOption(command: Command): Command {
  return command.option(
    '--level <N|Xum>',
    'the level of slides and other pyramids: a number, 0 for the largest, or the most micrometres a pixel, as 0.5um (default: 0)',
    readLevel,
  );
}

function readLevel(text: string): string {
  const level = canonicalLevel(text);
  if (level !== undefined) return level;
  throw new UsageError(sentence`Expected ${allowedLevels} for ${named('--level')} but received '${text}'`);
}
