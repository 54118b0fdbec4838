/** The coordinator wants to know who reads; its sentence says why. */
export class TokenWanted extends Error {}

const tokenKey = 'halogrid.token';

/** Keeps the token as long as this tab is open. @param {string} token */
export const keepToken = (token) => sessionStorage.setItem(tokenKey, token);

/**
 * What GET `path` of the API answers. Rejects with TokenWanted, or with one sentence.
 *
 * @param {string} path
 */
export async function readApi(path) {
  const token = sessionStorage.getItem(tokenKey);
  const response = await fetch(`api/v1/${path}`, {
    headers: token ? { authorization: `Bearer ${token}` } : {},
    cache: 'no-store',
    signal: AbortSignal.timeout(10_000),
  });
  if (response.ok) return response.json();
  const sentence = (await response.text()).trim();
  if (response.status === 401 || response.status === 403) throw new TokenWanted(sentence);
  throw new Error(sentence || `The coordinator answered with ${response.status}`);
}
