import { hasImageExtension } from '../formats.ts';

/** What is wanted of a folder. Names are without a path. */
export interface Selection {
  /** Whether every folder is walked that is not hidden, so that a link to one of them adds nothing. */
  readonly walksAll: boolean;
  /** Whether a file of that name is. Asked once a file. */
  takes(name: string): boolean;
  /** What is wanted of a folder of that name, or of one that a symbolic link of that name leads to; undefined: nothing. */
  enter(name: string, isLink: boolean): Selection | undefined;
}

/** The files in a folder and below that are images by their extension; hidden ones are passed over. */
export class ImagesBelow implements Selection {
  readonly walksAll = true;
  #others = 0;

  /** Files that are no images. */
  get others(): number {
    return this.#others;
  }

  takes(name: string): boolean {
    if (isHidden(name)) return false;
    if (hasImageExtension(name)) return true;
    this.#others++;
    return false;
  }

  enter(name: string): Selection | undefined {
    return isHidden(name) ? undefined : this;
  }
}

export function isHidden(name: string): boolean {
  return name.startsWith('.');
}
