const slash = 0x2f;

/** Whether a file lies in a folder, not below it. The end is not gone back from: that takes two thirds more time (measured). */
export const isIn = (folder: string, uri: string): boolean =>
  uri.charCodeAt(folder.length) === slash && uri.startsWith(folder) && uri.indexOf('/', folder.length + 1) < 0;
