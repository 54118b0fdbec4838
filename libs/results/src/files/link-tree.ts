import { copyFile, link, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Gives all files below `from` a second name below `to`, in the same folders, which are made if they are missing. Files
 * that cannot be linked are copied, as on another file system; files that are there already are replaced. `isWanted`
 * says which entries of `from` itself are taken.
 */
export async function linkTree(
  from: string,
  to: string,
  isWanted: (name: string) => boolean = () => true,
): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const { name } = entry;
    if (!isWanted(name)) continue;
    const [source, target] = [join(from, name), join(to, name)];
    if (entry.isDirectory()) await linkTree(source, target);
    else await linkFile(source, target);
  }
}

async function linkFile(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (error) {
    // An earlier call may have ended in the middle of a copy.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') await rm(to);
    await copyFile(from, to);
  }
}
