// Runs in a worker thread of the cpu device: WebAssembly.
import { runCpu } from '@halogrid/kernels/cpu';
import { serveBatches } from './serve-batches.ts';

serveBatches(runCpu);
