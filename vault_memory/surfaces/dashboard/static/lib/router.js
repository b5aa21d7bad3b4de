// Where we are, kept in the address: `#/page?filters`. Going somewhere never writes anything.
import { useEffect, useState } from './html.js';

export function here() {
  const [path, query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return { page: path || 'overview', query: Object.fromEntries(new URLSearchParams(query)) };
}

export function address(page, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '');
  const text = new URLSearchParams(kept).toString();
  return `#/${page}${text ? `?${text}` : ''}`;
}

/** Change the address; `replace` leaves no step behind (typing in a search box). */
export function go(page, query = {}, replace = false) {
  const to = address(page, query);
  if (to === location.hash) return;
  history[replace ? 'replaceState' : 'pushState'](null, '', to);
  dispatchEvent(new Event('moved'));
}

/** Change some of the query and stay on the page. */
export function change(part, replace = false) {
  const { page, query } = here();
  go(page, { ...query, ...part }, replace);
}

export const open = (ref) => change({ ref, tab: undefined });

export function useRoute() {
  const [route, setRoute] = useState(here);
  useEffect(() => {
    const moved = () => setRoute(here());
    for (const name of ['moved', 'popstate', 'hashchange']) addEventListener(name, moved);
    return () => ['moved', 'popstate', 'hashchange'].forEach((name) => removeEventListener(name, moved));
  }, []);
  return route;
}
