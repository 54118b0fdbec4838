import { TokenError } from '../tokens/token-error.ts';
import { TransferError } from './transfer-error.ts';

/**
 * The headers with a token, if there is one. Rejects with TransferError, so that a service that is away is waited for.
 */
export async function withToken(
  find: () => Promise<string | undefined>,
  headers: Record<string, string>,
): Promise<Record<string, string>> {
  try {
    const token = await find();
    return token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` };
  } catch (error) {
    throw error instanceof TokenError ? new TransferError(error.message, error.failure) : error;
  }
}
