import { homedir, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/**
 * Folders that a per-user cache may be in, best first. A user that the system does not know, as in containers, may have
 * no home.
 */
export function cacheFolders(env: NodeJS.ProcessEnv, home: () => string = homedir): string[] {
  const own = join(tmpdir(), `halogrid-${process.getuid?.() ?? 'user'}`);
  try {
    const cache = env.XDG_CACHE_HOME || join(home(), '.cache');
    return isAbsolute(cache) ? [join(cache, 'halogrid'), own] : [own];
  } catch {
    return [own];
  }
}
