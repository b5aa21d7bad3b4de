// Starts the dashboard: who is signed in, which page is shown, and the frame round it.
import { html, render, useEffect, useState } from './lib/html.js';
import { changes, session, signOut, whenSignedOut } from './lib/api.js';
import { address, change, go, useRoute } from './lib/router.js';
import { useCall, useKeys, vaultChanged } from './lib/use.js';
import { Toasts } from './ui/toast.js';
import { Shortcuts } from './ui/shortcuts.js';
import { SignIn } from './pages/sign-in.js';
import { Overview } from './pages/overview.js';
import { Memories } from './pages/memories.js';
import { Graph } from './pages/graph.js';
import { Timeline } from './pages/timeline.js';
import { Review } from './pages/review.js';
import { Anchors } from './pages/anchors.js';
import { Projects } from './pages/projects.js';
import { Maintenance } from './pages/maintenance.js';
import { Settings } from './pages/settings.js';
import { apply } from './lib/theme.js';
import { Record } from './record/record.js';

const PAGES = {
  overview: ['Overview', Overview, 'o'],
  memories: ['Memories', Memories, 'm'],
  graph: ['Graph', Graph, 'g'],
  timeline: ['Timeline', Timeline, 't'],
  review: ['Review', Review, 'r'],
  anchors: ['Anchors', Anchors, 'a'],
  projects: ['Projects', Projects, 'p'],
  maintenance: ['Maintenance', Maintenance, 'x'],
  settings: ['Settings', Settings, 's'],
};

function Rail({ page, live, who, waiting, leave }) {
  return html`<nav class="rail" aria-label="Pages">
    <a class="brand" aria-label="vault-memory: overview" href=${address('overview')}><img src="/assets/mark.svg" alt=""/><span>vault-memory</span></a>
    <ul class="bare">${Object.entries(PAGES).map(([name, [title]]) => html`
      <li key=${name}><a href=${address(name)} aria-current=${name === page ? 'page' : undefined}>
        ${title}${name === 'review' && waiting > 0 && html`<span class="badge">${waiting}<span class="hidden"> waiting</span></span>`}
      </a></li>`)}
    </ul>
    <div class="tail">
      <span class=${live ? 'live' : 'live off'} role="status">${live ? 'Live' : 'Reconnecting'}</span>
      ${who.readonly && html`<span>Read only</span>`}
      <span>Press <kbd>?</kbd> for keys</span>
      <button class="small" onClick=${leave}>Sign out</button>
    </div>
  </nav>`;
}

function useLive() {
  const [live, setLive] = useState(true);
  useEffect(() => changes(vaultChanged, (open) => {
    setLive(open);
  }), []);
  return live;
}

function Shell({ who, leave }) {
  const { page, query } = useRoute();
  const [help, setHelp] = useState(false);
  const live = useLive();
  const { data: queue } = useCall('review', { limit: 1 });
  const [title, Page] = PAGES[page] || PAGES.overview;
  useKeys((event) => {
    const target = Object.entries(PAGES).find(([, [, , key]]) => key === event.key);
    if (event.key === '?') setHelp(true);
    else if (event.key === '/') { event.preventDefault(); focusSearch(page); }
    else if (event.key === 'Escape' && !document.querySelector('dialog[open], form.edit') && query.ref) change({ ref: undefined, tab: undefined });
    else if (target && !query.ref) go(target[0]);
  });
  useEffect(() => {
    document.title = `${title} · vault-memory`;
    document.querySelector('.rail [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' }); // the rail is a strip on a phone
  }, [title]);
  return html`<div class="shell">
    <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); document.getElementById('main').focus(); }}>Skip to the page</a>
    <${Rail} page=${page} live=${live} who=${who} waiting=${queue ? queue.total : 0} leave=${leave}/>
    <div class=${query.ref ? 'with-record' : ''}>
      <main id="main" tabindex="-1"><${Page} query=${query} who=${who} leave=${leave}/></main>
      ${query.ref && html`<${Record} key=${query.ref} reference=${query.ref} tab=${query.tab || 'note'} who=${who}/>`}
    </div>
    ${help && html`<${Shortcuts} pages=${PAGES} close=${() => setHelp(false)}/>`}
    <${Toasts}/>
  </div>`;
}

function focusSearch(page) {
  if (page !== 'memories') go('memories');
  setTimeout(() => document.getElementById('search')?.focus(), 30);
}

function App() {
  const [who, setWho] = useState(undefined);
  useEffect(() => {
    whenSignedOut(() => setWho(null));
    session().then(setWho, () => setWho(null));
  }, []);
  if (who === undefined) return null;
  const leave = () => signOut().finally(() => setWho(null));
  return who ? html`<${Shell} who=${who} leave=${leave}/>` : html`<${SignIn} done=${setWho}/>`;
}

apply();
render(html`<${App}/>`, document.getElementById('app'));
