/** The coordinator asks for a token; the message says why. */
export class TokenWanted extends Error {}

const tokenKey = 'halogrid.token';

/** Keeps the token until this tab is closed. @param {string} token */
export const keepToken = (token) => sessionStorage.setItem(tokenKey, token);

/** The address of the API, relative to this file, because pages are in different folders. */
const api = new URL('../../api/v1/', import.meta.url);

/**
 * Resolves with the JSON answer to GET `path`, or to POST if there is a body. Rejects with TokenWanted, or with an
 * error of one sentence.
 *
 * @param {string} path
 * @param {{ body?: Blob, timeoutMs?: number }} [options]
 */
export async function readApi(path, { body, timeoutMs = 10_000 } = {}) {
  const response = await ask(new URL(path, api), { method: body ? 'POST' : 'GET', body, cache: 'no-store' }, timeoutMs);
  return response.json();
}

/**
 * Posts `body` to change something, and resolves with the JSON answer. Rejects as `readApi`.
 *
 * @param {string} path
 * @param {object} [body]
 */
export async function changeApi(path, body = {}) {
  const init = { method: 'POST', body: JSON.stringify(body) };
  const response = await ask(new URL(path, api), init, changeMs, { 'content-type': 'application/json' });
  return response.json();
}

/** Cancelling a job waits until its folder is in order. */
const changeMs = 60_000;

/** The address of a path below the API, for links that the browser follows itself. @param {string} path */
export const apiUrl = (path) => new URL(path, api).href;

/** Whether this tab has a token. Browsers do not send it with links that they follow themselves. */
export const hasToken = () => sessionStorage.getItem(tokenKey) !== null;

/** The authorization header for a library that sends requests itself; empty without a token. */
export const bearer = () => (hasToken() ? `Bearer ${sessionStorage.getItem(tokenKey)}` : '');

/** Reads a whole file of a job, with the token. @param {string} path @returns {Promise<Blob>} */
export async function readFile(path) {
  return (await ask(new URL(path, api), {}, fileMs)).blob();
}

const fileMs = 600_000;

/** A picture may wait for others, and then for the decoding of its frame. */
const pictureMs = 60_000;

/**
 * Resolves with the picture at a path of the coordinator, and the size of the region that it shows. Rejects as
 * `readApi`.
 *
 * @param {string} path
 * @returns {Promise<{ picture: Blob, width: number, height: number }>}
 */
export async function readPicture(path) {
  // Only the part below the API is used: behind a proxy, the API may have a prefix.
  const response = await ask(new URL(path.replace('/api/v1/', ''), api), {}, pictureMs);
  const [width = 0, height = 0] = (response.headers.get('halogrid-size') ?? '').split('x').map(Number);
  return { picture: await response.blob(), width, height };
}

/**
 * @param {URL} url
 * @param {RequestInit} init
 * @param {number} timeoutMs
 * @param {Record<string, string>} [more] headers
 */
async function ask(url, init, timeoutMs, more = {}) {
  const token = sessionStorage.getItem(tokenKey);
  /** @type {Record<string, string>} */
  const headers = { ...more };
  if (token) headers.authorization = `Bearer ${token}`;
  const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(timeoutMs) });
  if (response.ok) return response;
  const text = (await response.text()).trim();
  const sentence = response.headers.get('content-type')?.startsWith('application/json') && JSON.parse(text).error;
  // The coordinator sends this header if it may accept another token.
  if (response.headers.has('www-authenticate')) throw new TokenWanted(sentence || text);
  throw new Error(sentence || text || `The coordinator answered with ${response.status}`);
}
