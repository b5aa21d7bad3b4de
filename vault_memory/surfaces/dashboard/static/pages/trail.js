// The audit trail and git: who wrote what on this machine, what is committed, and the way back.
import { html, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { address } from '../lib/router.js';
import { plural, words } from '../lib/format.js';
import { useCall, vaultChanged } from '../lib/use.js';
import { Plan } from '../ui/dialog.js';
import { complain, say } from '../ui/toast.js';
import { Ago, Failure, Waiting } from '../ui/parts.js';

const PAGE = 15;

export function Git() {
  const { data, error } = useCall('/dashboard/repository');
  const state = (found) => [found.problem, found.waiting, found.queued > 0 && `${plural(found.queued, 'write')} about to be committed`,
    found.unsaved > 0 && `${plural(found.unsaved, 'file')} changed by hand and not committed yet`].filter(Boolean);
  return html`<section class="card"><h2>Git ${data?.branch && html`<span class="chip">${data.branch.replace('refs/heads/', '')}</span>`}</h2>
    ${error ? html`<${Failure} error=${error}/>` : !data ? html`<${Waiting} rows=${4}/>` : html`
      <p class="quiet">${[...new Set(state(data))].join('; ') || 'Everything is committed.'}</p>
      <ul class="bare commits">${data.commits.slice(0, 5).map((one) => html`<li key=${one.commit}><code>${one.commit.slice(0, 7)}</code><span class="grow">${one.summary}</span>
        <span class="quiet small">${one.agent || one.author}, <${Ago} time=${one.when}/></span></li>`)}</ul>`}</section>`;
}

export function Trail({ readonly }) {
  const [limit, setLimit] = useState(PAGE);
  const { data, error } = useCall('/dashboard/trail', { limit });
  const [asked, setAsked] = useState(null);
  const ask = (one) => call('undo', { operation: one.id, dry_run: true }).then((plan) => setAsked({ one, plan }), complain);
  return html`<section class="card"><h2>Audit trail</h2><p class="quiet">Every write of this machine, by whom, newest first. Edits by hand stand in git.</p>
    ${error ? html`<${Failure} error=${error}/>` : !data ? html`<${Waiting}/>` : data.items.length === 0 ? html`<p>Nothing was written yet.</p>`
      : html`<table class="list trail"><thead><tr><th>When</th><th>Who</th><th>What</th><th>Notes</th><td></td></tr></thead><tbody>${data.items.map((one) => html`<tr key=${one.id}>
        <td class="when"><${Ago} time=${one.time}/></td><td>${one.agent || 'you'}${one.session && html`<br/><span class="quiet small">${one.session.slice(0, 12)}</span>`}</td>
        <td>${words(one.operation)}${one.reason && html`<br/><span class="quiet small">${one.reason}</span>`}</td><td><${Paths} paths=${one.paths}/></td>
        <td class="end">${!readonly && html`<button class="small plain" onClick=${() => ask(one)}>Undo…</button>`}</td></tr>`)}</tbody></table>`}
    ${data?.has_more && html`<button onClick=${() => setLimit(limit + 3 * PAGE)} disabled=${limit >= 200}>Show more</button>`}
    ${asked && html`<${Undo} ...${asked} close=${() => setAsked(null)}/>`}</section>`;
}

const Paths = ({ paths }) => html`${paths.slice(0, 3).map((path) => html`<div key=${path}><a href=${address('maintenance', { ref: path })}>${path.split('/').pop().replace(/\.md$/, '')}</a></div>`)}
  ${paths.length > 3 && html`<span class="quiet small">and ${paths.length - 3} more</span>`}`;

function Undo({ one, plan, close }) {
  const lines = [...plan.restored.map((path) => `${path} becomes what it was before`), ...plan.removed.map((path) => `${path} leaves the vault again`),
    ...plan.conflicts.map(({ path, reason }) => `${path} stays as it is: ${reason}`)];
  const carry = async () => {
    const { operation } = await call('undo', { operation: one.id });
    vaultChanged();
    say('Taken back.', { operations: [operation] });
  };
  return html`<${Plan} title=${`Take back: ${words(one.operation)}`} verb="Take back" lines=${lines} close=${close} carry=${carry} ready=${plan.restored.length + plan.removed.length > 0}
    note=${plan.restored.length + plan.removed.length ? 'What is taken back can be brought back by Undo.' : 'Nothing of it can be taken back any more.'}/>`;
}
