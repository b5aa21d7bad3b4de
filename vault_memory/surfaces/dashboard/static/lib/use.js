// Hooks over the server: read an operation again whenever the vault changes, and keep the old answer meanwhile.
import { useEffect, useRef, useState } from './html.js';
import { call } from './api.js';

const listeners = new Set();

/** Tell every reader that the vault changed. */
export function vaultChanged() {
  for (const listener of [...listeners]) listener();
}

/** A number that rises with every change of the vault. */
export function useChanges() {
  const [count, setCount] = useState(0);
  useEffect(() => {
    const rise = () => setCount((n) => n + 1);
    listeners.add(rise);
    return () => listeners.delete(rise);
  }, []);
  return count;
}

/** `{data, error, loading, again}` of an operation; nothing is asked while `operation` is null. */
export function useCall(operation, given = {}, delay = 0) {
  const [answer, setAnswer] = useState({ data: null, error: null, loading: true });
  const [again, setAgain] = useState(0);
  const changes = useChanges();
  const key = JSON.stringify([operation, given]);
  const seen = useRef('');
  useEffect(() => {
    if (operation === null) return undefined;
    const abort = new AbortController();
    const fresh = seen.current !== key;
    if (fresh) setAnswer((old) => ({ ...old, loading: true }));
    const timer = setTimeout(() => {
      call(operation, given, abort.signal)
        .then((data) => {
          seen.current = key;
          setAnswer({ data, error: null, loading: false });
        })
        .catch((error) => error.name !== 'AbortError' && setAnswer({ data: null, error, loading: false }));
    }, fresh ? delay : 0);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, changes, again]);
  return { ...answer, again: () => setAgain((n) => n + 1) };
}

/** Call `handler` for keys pressed outside of text fields; Escape comes from everywhere. */
export function useKeys(handler) {
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => {
    const pressed = (event) => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
      const typing = event.target.closest?.('input:not([type=checkbox]), textarea, select, [contenteditable]');
      if (!typing || event.key === 'Escape') latest.current(event);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
}
