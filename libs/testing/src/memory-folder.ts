import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** A folder in memory if the system has one, because simulations wait for every sync of a file. */
export const memoryFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
