// Memories: instant search with filters in the address, a list to walk through and to select from.
import { html, useEffect, useRef, useState } from '../lib/html.js';
import { address, change, open } from '../lib/router.js';
import { excerpt, plural, words } from '../lib/format.js';
import { useCall, useKeys } from '../lib/use.js';
import { Explained } from '../ui/explained.js';
import { Ago, Empty, Failure, Marked, Status, Tags, Type, Waiting } from '../ui/parts.js';
import { Bulk } from './bulk.js';

const PAGE = 30;
const TYPING_MS = 90;
const SORTS = [['updated_at', 'Last changed'], ['created_at', 'Newest'], ['last_accessed_at', 'Last used'], ['id', 'Oldest']];
const FILTERS = ['type', 'status', 'project', 'domain', 'tag', 'source'];

function asked(query) {
  const filters = {
    memory_type: query.type, project: query.project, domain: query.domain, tag: query.tag, source: query.source, touch: false,
    limit: Number(query.limit) || PAGE,
  };
  const status = query.status === 'all' ? undefined : query.status || 'active';
  if (!query.q) return ['list', { ...filters, status, sort: query.sort || 'updated_at' }];
  const shown = query.status ? { status, include_archived: true } : {};
  return ['search', { ...filters, ...shown, query: query.q, mode: query.mode || 'hybrid', explain: query.explain === '1' }];
}

export function Memories({ query, who }) {
  const [operation, given] = asked(query);
  const answer = useCall(operation, given, TYPING_MS);
  const [selected, setSelected] = useState(new Set());
  const rows = rowsOf(answer.data);
  const list = useRef();
  useRowKeys(list, setSelected);
  const chosen = rows.filter((row) => selected.has(row.memory.ref)).map((row) => row.memory);
  return html`<header class="head"><h1>Memories</h1><span class="quiet small" role="status">${summary(answer.data)}</span></header>
    <${SearchBox} query=${query}/>
    <${Filters} query=${query}/>
    <div class="results" ref=${list} aria-busy=${answer.loading}>
      ${answer.error ? html`<${Failure} ...${answer}/>`
        : !answer.data ? html`<${Waiting} rows=${8}/>`
        : rows.length === 0 ? html`<${Nothing} query=${query}/>`
        : html`<ol class="bare rows">${rows.map((row) => html`<${Row} key=${row.memory.path} row=${row} query=${query}
            selected=${selected.has(row.memory.ref)} toggle=${() => setSelected((old) => toggled(old, row.memory.ref))}/>`)}</ol>`}
      ${answer.data?.has_more && html`<button onClick=${() => change({ limit: Math.min(100, given.limit + PAGE) }, true)}
        disabled=${given.limit >= 100}>${given.limit >= 100 ? 'Narrow the search to see others' : 'Show more'}</button>`}
    </div>
    ${chosen.length > 0 && html`<${Bulk} memories=${chosen} clear=${() => setSelected(new Set())} readonly=${who.readonly}/>`}`;
}

function rowsOf(data) {
  if (!data) return [];
  return data.hits ? data.hits.map((hit) => ({ memory: hit.memory, hit })) : data.items.map((memory) => ({ memory, hit: null }));
}

function summary(data) {
  if (!data) return '';
  const hidden = data.hidden_by_decay ? `, ${data.hidden_by_decay} faded` : '';
  return data.hits ? `${plural(data.total, 'match', 'matches')}${hidden}` : plural(data.total, 'memory', 'memories');
}

const toggled = (set, ref) => {
  const next = new Set(set);
  if (!next.delete(ref)) next.add(ref);
  return next;
};

/** j and k walk through the rows, x or Space selects, Enter opens by the link's own nature. */
function useRowKeys(list, setSelected) {
  useKeys((event) => {
    const links = [...(list.current?.querySelectorAll('.row-link') || [])];
    const at = links.indexOf(document.activeElement);
    const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
    if (step && links.length) {
      event.preventDefault();
      links[Math.max(0, Math.min(links.length - 1, at + step))].focus();
    } else if (event.key === ' ' && at >= 0) {
      event.preventDefault();
      setSelected((old) => toggled(old, links[at].dataset.ref));
    }
  });
}

function SearchBox({ query }) {
  const input = useRef();
  useEffect(() => {
    if (document.activeElement !== input.current) input.current.value = query.q || '';
  }, [query.q]);
  return html`<form class="search" role="search" onSubmit=${(event) => { event.preventDefault(); document.querySelector('.row-link')?.focus(); }}>
    <label class="hidden" for="search">Search memories</label>
    <input id="search" ref=${input} type="search" placeholder="Search by words or meaning; tag:deploy, -word, “a phrase”" autocomplete="off"
      spellcheck="false" onInput=${(event) => change({ q: event.target.value, limit: undefined }, true)}/>
    <select aria-label="How to search" value=${query.mode || 'hybrid'} onChange=${(event) => change({ mode: event.target.value }, true)}>
      <option value="hybrid">words and meaning</option><option value="keyword">words</option><option value="semantic">meaning</option></select>
    <label class="row"><input type="checkbox" checked=${query.explain === '1'}
      onChange=${(event) => change({ explain: event.target.checked ? '1' : undefined }, true)}/> explain</label>
  </form>`;
}

function Filters({ query }) {
  const { data } = useCall('stats');
  const options = (counts) => (data ? counts.map(([name, n]) => [name, `${words(name)} (${n})`]) : []);
  const pick = (name, label, list) => html`<select key=${name} aria-label=${label} class=${query[name] ? 'set' : ''} value=${query[name] || ''}
    onChange=${(event) => change({ [name]: event.target.value, limit: undefined })}>
    <option value="">${label}</option>
    ${query[name] && !list.some(([value]) => value === query[name]) && html`<option value=${query[name]}>${query[name]}</option>`}
    ${list.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}</select>`;
  return html`<div class="filters row">
    ${pick('type', 'Any type', options(data?.by_type))}
    ${pick('status', 'Active', [['archived', 'archived'], ['invalid', 'invalid'], ['deleted', 'deleted'], ['all', 'all but deleted']])}
    ${pick('project', 'Any project', options(data?.by_project))}
    ${pick('domain', 'Any domain', options(data?.by_domain))}
    ${pick('tag', 'Any tag', options(data?.by_tag))}
    ${pick('source', 'Anyone', ['human', 'agent', 'crawl', 'import'].map((name) => [name, name]))}
    ${!query.q && pick('sort', 'Last changed', SORTS.slice(1))}
    ${FILTERS.some((name) => query[name]) && html`<button class="small plain"
      onClick=${() => change(Object.fromEntries(FILTERS.map((name) => [name, undefined])))}>Clear filters</button>`}
  </div>`;
}

function Row({ row: { memory, hit }, query, selected, toggle }) {
  const to = address('memories', { ...query, ref: memory.ref, tab: undefined });
  return html`<li class=${query.ref === memory.ref ? 'one open' : 'one'} onClick=${(event) => !event.target.closest('a, input, details') && open(memory.ref)}>
    <input type="checkbox" checked=${selected} onChange=${toggle} aria-label=${`Select ${memory.title}`}/>
    <div class="grow">
      <a class="row-link" data-ref=${memory.ref} href=${to}>${memory.title}</a>
      <p class="snippet">${hit ? html`<${Marked} text=${hit.snippet} marks=${hit.marks}/>` : excerpt(memory.content)}</p>
      <p class="meta"><${Type} type=${memory.memory_type}/><${Status} status=${memory.status}/>
        ${memory.project && html`<span>${memory.project}</span>`}
        ${memory.verification !== 'unverified' && html`<span class=${`chip ${memory.verification}`}>${memory.verification}</span>`}
        <${Tags} tags=${memory.tags} pick=${(tag) => address('memories', { ...query, tag })}/></p>
      ${hit && query.explain === '1' && html`<${Explained} hit=${hit}/>`}
    </div>
    <div class="side small quiet">${hit
      ? html`<span class="relevance" title=${`Relevance ${hit.relevance.toFixed(2)}`}><i style=${{ width: `${100 * hit.relevance}%` }}></i></span>`
      : html`<${Ago} time=${memory.updated_at}/>`}</div>
  </li>`;
}

function Nothing({ query }) {
  const filtered = FILTERS.some((name) => query[name]);
  return html`<${Empty} title=${query.q ? `Nothing matches “${query.q}”` : 'No memories here'}>
    <p>${filtered ? 'A filter is set; without it there may be more.' : query.q
      ? 'Search knows words and meaning. Try fewer words, or ask as you would ask a colleague.'
      : 'Memories that agents and people store appear here.'}</p>
    ${query.q && !query.status && html`<button onClick=${() => change({ status: 'all' })}>Look in archived ones too</button>`}</${Empty}>`;
}
