// Talks to the server: operations, the session, and the stream of changes. Renders nothing.

export class Problem extends Error {
  constructor(status, body) {
    super(body.detail || body.title || `the server answered ${status}`);
    this.status = status;
    this.body = body;
    this.code = body.code || 'error';
  }
}

const state = { headers: {}, onSignedOut: () => {} };

/** Called when the server no longer knows this browser. */
export function whenSignedOut(listener) {
  state.onSignedOut = listener;
}

async function request(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...options });
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw new Problem(0, { code: 'unreachable', detail: 'The server does not answer. Is vault-memory serve still running?' });
  }
  const body = await response.json().catch((error) => {
    if (error.name === 'AbortError' || response.ok) throw error; // half an answer is none
    return {};
  });
  if (response.status === 401 && path !== '/session') state.onSignedOut();
  if (!response.ok) throw new Problem(response.status, body);
  return body;
}

function sent(method, document, signal) {
  return { method, signal, headers: { 'Content-Type': 'application/json', ...state.headers }, body: JSON.stringify(document) };
}

/** Run an operation; `given` without empty values is its request. A path is read instead, with `given` as its query. */
export function call(operation, given = {}, signal) {
  const named = Object.entries(given).filter(([, value]) => value !== undefined && value !== '');
  if (operation.startsWith('/')) {
    const query = new URLSearchParams(named).toString();
    return request(query ? `${operation}?${query}` : operation, { signal, headers: state.headers });
  }
  return request(`/v1/${operation}`, sent('POST', Object.fromEntries(named), signal));
}

export const post = (path, document = {}) => request(path, sent('POST', document));
export const remove = (path) => request(path, sent('DELETE', {}));

/** Who is signed in, or null. An owner sees every actor's memories; a bound token sees its own. */
export async function session() {
  return remember(await request('/session', {}));
}

export async function signIn(token) {
  return remember(await request('/session', sent('POST', { token })));
}

export function signOut() {
  return request('/session', sent('DELETE', {}));
}

function remember({ caller: who }) {
  state.headers = who?.actor ? {} : { 'Vault-Actor': '*' };
  return who;
}

/** Listen to changes; `onChange` hears at most once in a moment. Returns a function that stops listening. */
export function changes(onChange, onState) {
  const source = new EventSource('/v1/events');
  let timer = 0;
  const soon = () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, 120);
  };
  source.addEventListener('change', soon);
  source.onopen = () => onState(true);
  source.onerror = () => onState(false);
  return () => {
    clearTimeout(timer);
    source.close();
  };
}

/** The id of the operation that made `answer` of the memory `ref`, or that was `named` so lately: what `undo` takes. */
export async function operationOf(ref, { revision, named }) {
  return (await call('/dashboard/operation', { ref, revision: revision || undefined, named: revision ? undefined : named })).operation;
}
