// Why a hit stands where it stands: the parts of its score.
import { html } from '../lib/html.js';

const Bar = ({ part, most }) => html`<tr><th scope="row">${part.name}</th>
  <td class="number">${part.contribution.toFixed(3)}</td>
  <td class="bar"><i class=${part.contribution < 0 ? 'less' : ''} style=${{ width: `${(100 * Math.abs(part.contribution)) / most}%` }}></i></td>
  <td class="quiet">${part.meaning}</td></tr>`;

export function Explained({ hit }) {
  if (!hit.why) return null;
  const parts = [...hit.why.parts, ...hit.why.adjustments].filter((part) => Math.abs(part.contribution) > 5e-4);
  const most = Math.max(0.001, ...parts.map((part) => Math.abs(part.contribution)));
  return html`<details class="explained" open><summary>Score ${hit.score.toFixed(3)}, relevance ${hit.relevance.toFixed(2)},
    found by ${{ fts: 'words', vec: 'meaning', both: 'words and meaning' }[hit.match_source] || hit.match_source}</summary>
    <table>${parts.map((part) => html`<${Bar} key=${part.name} part=${part} most=${most}/>`)}</table></details>`;
}
