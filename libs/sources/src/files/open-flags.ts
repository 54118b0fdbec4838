import { constants } from 'node:fs';

/** Opens a file for reading. Without O_NONBLOCK, opening a FIFO waits for a writer. */
export const forReading = constants.O_RDONLY | constants.O_NONBLOCK;
