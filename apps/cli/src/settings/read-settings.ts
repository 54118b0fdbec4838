import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { readSettingsFile, type SettingsFile } from './settings-file.ts';

/** Where settings come from, besides the command line. */
export interface Settings {
  readonly env: NodeJS.ProcessEnv;
  /** The files that exist: that of the working folder before that of the user. */
  readonly files: readonly SettingsFile[];
  /** The paths where files were looked for. */
  readonly lookedAt: readonly string[];
}

const fileName = 'halogrid.toml';

/** The settings for a program with the working folder `folder`. Rejects with UsageError if a file is not valid. */
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

/** The files that were looked for, and whether they exist. */
export const foundFiles = ({ lookedAt, files }: Settings): { path: string; isThere: boolean }[] =>
  lookedAt.map((path) => ({ path, isThere: files.some((file) => file.path === path) }));

/** The folder of configuration; undefined for a user without a home, as in containers. */
function homeConfig(env: NodeJS.ProcessEnv): string | undefined {
  try {
    return join(env.HOME || homedir(), '.config');
  } catch {
    return undefined;
  }
}
