// Edit, confirm, archive, restore, purge; and the way to the file in an editor.
import { html, useState } from '../lib/html.js';
import { call } from '../lib/api.js';
import { change } from '../lib/router.js';
import { plural } from '../lib/format.js';
import { useCall, vaultChanged } from '../lib/use.js';
import { write } from '../lib/write.js';
import { Plan } from '../ui/dialog.js';
import { complain, say } from '../ui/toast.js';

export function Actions({ memory, edit, readonly }) {
  const [asked, setAsked] = useState(null);
  const { ref, revision } = memory;
  const active = memory.status === 'active';
  const blocked = memory.findings.some((one) => one.blocks_edit);
  const run = (operation, given, text) => write(operation, { ref, if_revision: revision, ...given }, ref, text).catch(complain);
  const plan = async () => {
    try {
      await call('purge', { ref });
    } catch (error) {
      if (error.code === 'confirmation_needed') setAsked({ purge: error.body });
      else complain(error);
    }
  };
  return html`<div class="row actions">
    ${!readonly && html`<button class="main" onClick=${edit} disabled=${blocked}>Edit</button>
      ${active && memory.verification !== 'confirmed' && html`<button onClick=${() => run('verify', { verification: 'confirmed' }, 'Confirmed.')}>Confirm</button>`}
      ${active ? html`<button onClick=${() => setAsked('archive')}>Archive</button>`
        : html`<button onClick=${() => run('restore', {}, 'Restored.')}>Restore</button>`}
      <button class="danger plain" onClick=${plan}>Purge…</button>`}
    <${OpenElsewhere} path=${memory.path}/>
    ${asked === 'archive' && html`<${Plan} title="Archive this memory" lines=${[memory.title]} verb="Archive" close=${() => setAsked(null)}
      note="It leaves search and packs. The note stays where it is, links stay whole, and Undo or Restore brings it back."
      carry=${() => write('forget', { ref, if_revision: revision }, ref, 'Archived.')}/>`}
    ${asked?.purge && html`<${Purge} problem=${asked.purge} memory=${memory} close=${() => setAsked(null)}/>`}
  </div>`;
}

function OpenElsewhere({ path }) {
  const { data } = useCall('status');
  if (!data) return null;
  const vault = data.root.split('/').pop();
  return html`<a class="small" href=${`obsidian://open?vault=${encodeURIComponent(vault)}&file=${encodeURIComponent(path)}`}>Open in Obsidian</a>
    <button class="small plain" onClick=${() => navigator.clipboard.writeText(`${data.root}/${path}`).then(() => say('Path copied.'))}>Copy path</button>`;
}

function Purge({ problem, memory, close }) {
  const [phrase, setPhrase] = useState('');
  const { plan } = problem;
  const lines = [
    `the note ${plan.path} and every copy of its text in the indexes`,
    `${plural(plan.inbound_relations, 'relation')} that lead to it`,
    `${plural(plan.kept_versions, 'kept version')}, its usage and its entries in the audit log`,
  ];
  const note = plan.in_git ? 'Git history still holds earlier commits; the answer names the command that removes them.' : undefined;
  const carry = async () => {
    const answer = await call('purge', { ref: memory.ref, confirm_phrase: phrase });
    change({ ref: undefined, tab: undefined });
    vaultChanged();
    say(answer.command ? `Purged. Git history still holds it; to remove it there, run: ${answer.command}` : 'Purged.');
  };
  return html`<${Plan} title=${`Purge “${memory.title}”`} lines=${lines} note=${note} verb="Purge for good" close=${close} carry=${carry}
    ready=${phrase === problem.phrase}>
    <p><b>This is the one thing that cannot be undone.</b> To go on, type <code>${problem.phrase}</code></p>
    <label class="field"><span>Phrase</span><input class="mono" value=${phrase} autocomplete="off" spellcheck="false"
      onInput=${(event) => setPhrase(event.target.value)}/></label></${Plan}>`;
}
