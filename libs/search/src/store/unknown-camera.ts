import { UsageError } from '@halogrid/service';

/** The most names that a sentence lists. */
const mostNames = 20;

/** The requested camera has no frame. The message lists the cameras that have some. */
export class UnknownCamera extends UsageError {
  /** `whose`: what holds the frames, as the beginning of a sentence. */
  constructor(whose: string, camera: string, known: Iterable<string>) {
    const names = [...known].sort();
    const listed = names.slice(0, mostNames).map((name) => `'${name}'`);
    if (names.length > mostNames) listed.push(`${names.length - mostNames} more`);
    const list = [...(listed.length > 1 ? [listed.slice(0, -1).join(', ')] : []), listed.at(-1)].join(' and ');
    super(
      `${whose} has no frame of camera '${camera}': its ${listed.length > 1 ? 'cameras are' : 'camera is'} ${list}`,
    );
    this.name = 'UnknownCamera';
  }
}
