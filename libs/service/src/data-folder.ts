import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The folder for a user's lasting data; undefined for a user without a home, as in containers. */
export function dataFolder(env: NodeJS.ProcessEnv, home: () => string = homedir): string | undefined {
  try {
    const data = env.XDG_DATA_HOME || join(home(), '.local', 'share');
    return isAbsolute(data) ? join(data, 'halogrid') : undefined;
  } catch {
    return undefined;
  }
}
