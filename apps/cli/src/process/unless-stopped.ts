import { shutdownSignal } from '@halogrid/service';
import { exitCodeOfSignal } from './exit-code.ts';

/** Runs what a command does, and sets the exit code that it gives, or that of the signal that has stopped it. */
export async function unlessStopped(act: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const signal = shutdownSignal();
  try {
    process.exitCode = await act(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = exitCodeOfSignal(signal.reason);
  }
}
