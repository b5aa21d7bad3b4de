// Small things that every page uses. They show what they are given and ask nobody.
import { html } from '../lib/html.js';
import { ago, hue, moment, pieces, words } from '../lib/format.js';

export const Type = ({ type }) => html`<span class="type"><i class="dot" style=${{ '--hue': hue(type) }}></i>${words(type)}</span>`;

export const Ago = ({ time }) => html`<time datetime=${time} title=${moment(time)}>${ago(time)}</time>`;

export const Status = ({ status }) => status !== 'active' && html`<span class=${`chip ${status}`}>${status}</span>`;

export const Tags = ({ tags, pick }) => tags.map((tag) => html`<a key=${tag} class="tag" href=${pick(tag)}>#${tag}</a>`);

export const Marked = ({ text, marks }) => pieces(text, marks).map(([part, on]) => (on ? html`<mark>${part}</mark>` : part));

/** What to do on an empty page: a sentence that teaches, and the command or button that helps. */
export const Empty = ({ title, children }) => html`<div class="empty"><h3>${title}</h3>${children}</div>`;

export const Failure = ({ error, again }) => html`<div class="failure" role="alert">
  <strong>${error.message}</strong>${error.body?.hint && html` <span>${error.body.hint}</span>`}
  ${again && html` <button class="small" onClick=${again}>Try again</button>`}</div>`;

/** Room for an answer that is not there yet, as tall as the answer will be. */
export const Waiting = ({ rows = 6 }) => html`<div class="waiting" aria-busy="true"><span class="hidden">Loading</span>
  ${Array.from({ length: rows }, (_, n) => html`<i key=${n}></i>`)}</div>`;

/** Bars of `[name, number]`, each a link. */
export function Bars({ counts, to, label = words, limit = 8 }) {
  const most = Math.max(1, ...counts.map(([, n]) => n));
  return html`<ul class="bare bars">${counts.slice(0, limit).map(([name, n]) => html`
    <li key=${name}><a href=${to(name)}><span class="bar-name">${label(name)}</span>
      <span class="bar"><i style=${{ width: `${(100 * n) / most}%`, '--hue': hue(name) }}></i></span>
      <span class="number">${n.toLocaleString('en')}</span></a></li>`)}</ul>`;
}
