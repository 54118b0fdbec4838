import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { readSettingsFile, type SettingsFile } from './settings-file.ts';

/** Where settings come from, besides the command line. */
export interface Settings {
  readonly env: NodeJS.ProcessEnv;
  /** That of the working folder before that of the user; without those that are not there. */
  readonly files: readonly SettingsFile[];
  /** Where files were looked for. */
  readonly lookedAt: readonly string[];
}

const fileName = 'halogrid.toml';

/**
 * Settings as they are for a program that works in `folder`. Rejects with UsageError where a file is not what it should
 * be.
 */
export async function readSettings(env: NodeJS.ProcessEnv, folder: string): Promise<Settings> {
  const here = resolve(folder, fileName);
  const config = env.XDG_CONFIG_HOME && isAbsolute(env.XDG_CONFIG_HOME) ? env.XDG_CONFIG_HOME : homeConfig(env);
  const users = config && join(config, 'halogrid', fileName);
  const read = [
    ...(here === users ? [] : [await readSettingsFile(here, 'folder')]),
    ...(users ? [await readSettingsFile(users, 'user')] : []),
  ];
  return {
    env,
    files: read.filter((file) => file !== undefined),
    lookedAt: [here, ...(users && users !== here ? [users] : [])],
  };
}

/** The files that were looked for, and whether they are there. */
export const foundFiles = ({ lookedAt, files }: Settings): { path: string; isThere: boolean }[] =>
  lookedAt.map((path) => ({ path, isThere: files.some((file) => file.path === path) }));

/** A user whom the system does not know, as in containers, has no home. */
function homeConfig(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return join(env.HOME || homedir(), '.config');
  } catch {
    return undefined;
  }
}
