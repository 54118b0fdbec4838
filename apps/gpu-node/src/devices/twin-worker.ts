// Runs in a worker thread of the twin device: the reference in plain TypeScript.
import { runReference } from '@halogrid/kernels';
import { serveBatches } from './serve-batches.ts';

serveBatches(runReference);
