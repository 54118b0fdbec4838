/** The coordinator wants to know who reads; its sentence says why. */
export class TokenWanted extends Error {}

const tokenKey = 'halogrid.token';

/** Keeps the token as long as this tab is open. @param {string} token */
export const keepToken = (token) => sessionStorage.setItem(tokenKey, token);

/** Where the API is: beside the folder of this file, wherever the page is. */
const api = new URL('../../api/v1/', import.meta.url);

/**
 * What GET `path` of the API answers, or POST where there is a body. Rejects with TokenWanted, or with one sentence.
 *
 * @param {string} path
 * @param {{ body?: Blob, timeoutMs?: number }} [options]
 */
export async function readApi(path, { body, timeoutMs = 10_000 } = {}) {
  const response = await ask(new URL(path, api), { method: body ? 'POST' : 'GET', body, cache: 'no-store' }, timeoutMs);
  return response.json();
}

/**
 * Asks the coordinator to change something, and resolves with what it answers. Rejects as `readApi`.
 *
 * @param {string} path
 * @param {object} [body]
 */
export async function changeApi(path, body = {}) {
  const init = { method: 'POST', body: JSON.stringify(body) };
  const response = await ask(new URL(path, api), init, changeMs, { 'content-type': 'application/json' });
  return response.json();
}

/** A job that is cancelled is waited for, until its folder is in order. */
const changeMs = 60_000;

/** Where a path below the API is, for links that a browser follows itself. @param {string} path */
export const apiUrl = (path) => new URL(path, api).href;

/** Whether there is a token, which a browser does not send with links that it follows itself. */
export const hasToken = () => sessionStorage.getItem(tokenKey) !== null;

/** The header that shows who reads, for what asks by itself; empty where there is no token. */
export const bearer = () => (hasToken() ? `Bearer ${sessionStorage.getItem(tokenKey)}` : '');

/** A file of a job as a whole, for who has a token. @param {string} path @returns {Promise<Blob>} */
export async function readFile(path) {
  return (await ask(new URL(path, api), {}, fileMs)).blob();
}

const fileMs = 600_000;

/** A picture takes the decoding of a frame, and others may be before it. */
const pictureMs = 60_000;

/**
 * The picture at a path of the coordinator, and the size of what it shows. Rejects as `readApi`.
 *
 * @param {string} path
 * @returns {Promise<{ picture: Blob, width: number, height: number }>}
 */
export async function readPicture(path) {
  // The path of the API is known, and what is before it as well: a proxy may have put something there.
  const response = await ask(new URL(path.replace('/api/v1/', ''), api), {}, pictureMs);
  const [width = 0, height = 0] = (response.headers.get('halogrid-size') ?? '').split('x').map(Number);
  return { picture: await response.blob(), width, height };
}

/**
 * @param {URL} url @param {RequestInit} init @param {number} timeoutMs @param {Record<string, string>} [more] headers
 */
async function ask(url, init, timeoutMs, more = {}) {
  const token = sessionStorage.getItem(tokenKey);
  /** @type {Record<string, string>} */
  const headers = { ...more, ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(url, { ...init, headers, signal: AbortSignal.timeout(timeoutMs) });
  if (response.ok) return response;
  const text = (await response.text()).trim();
  const sentence = response.headers.get('content-type')?.startsWith('application/json') && JSON.parse(text).error;
  // It says so where another token may do it.
  if (response.headers.has('www-authenticate')) throw new TokenWanted(sentence || text);
  throw new Error(sentence || text || `The coordinator answered with ${response.status}`);
}
