/** Stands for an option that the parent tells when it knows it, so that this process can start meanwhile. */
export const toldByParent = 'told-by-parent';

/** The first word that the parent tells. Where the parent ends before, so does this process: see endWithParent. */
export function wordOfParent(): Promise<string> {
  return new Promise((resolve) => {
    // There may be nothing else yet that keeps this process.
    process.channel?.ref();
    process.once('message', (word) => {
      process.channel?.unref();
      resolve(String(word));
    });
  });
}
