import { shutdownSignal } from '@halogrid/service';
import { exitCodeOfSignal } from './exit-code.ts';

/** Runs the work of a command. Sets the exit code that it resolves with, or that of the signal that stopped it. */
export async function unlessStopped(act: (signal: AbortSignal) => Promise<number>): Promise<void> {
  const signal = shutdownSignal();
  try {
    process.exitCode = await act(signal);
  } catch (error) {
    if (!signal.aborted) throw error;
    process.exitCode = exitCodeOfSignal(signal.reason);
  }
}
