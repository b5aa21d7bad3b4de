// The list of keys.
import { html } from '../lib/html.js';
import { Dialog } from './dialog.js';

export function Shortcuts({ pages, close }) {
  const keys = [
    ['/', 'Search'], ['j  k', 'Next and previous row'], ['Enter', 'Open the row'], ['Space', 'Select the row'],
    ['e', 'Edit the open record'], ['Esc', 'Close the record'],
    ...Object.values(pages).map(([title, , key]) => [key, title]),
  ];
  return html`<${Dialog} title="Keys" close=${close}><dl class="keys">${keys.map(([key, what]) => html`
    <dt><kbd>${key}</kbd></dt><dd>${what}</dd>`)}</dl>
    <form method="dialog"><button>Close</button></form></${Dialog}>`;
}
