// A note's text as HTML that can do nothing: Markdown is rendered, then only a short list of tags and attributes stays.
import { Marked } from '../vendor/marked.js';
import '../vendor/purify.js';
import { address } from './router.js';

const escaped = (text) => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const link = (href, text, title) => `<a href="${escaped(href)}"${title ? ` title="${escaped(title)}"` : ''}>${text}</a>`;
const toMemory = (target) => address('memories', { ref: target });
const isNote = (href) => /^[^:?#]+\.md(#.*)?$/i.test(href);

const wikilink = {
  name: 'wikilink',
  level: 'inline',
  start: (text) => text.indexOf('[['),
  tokenizer(text) {
    const found = /^!?\[\[([^[\]|\n]+?)(?:\|([^[\]\n]+?))?\]\]/.exec(text);
    return found ? { type: 'wikilink', raw: found[0], target: found[1], label: found[2] || found[1] } : undefined;
  },
  renderer: (token) => link(toMemory(token.target.split('#')[0]), escaped(token.label)),
};

function noteTarget(href) {
  try {
    return decodeURIComponent(href.replace(/#.*$/, ''));
  } catch {
    return href;
  }
}

const PLAIN = 'abbr|b|br|code|dd|del|details|dl|dt|em|h[1-6]|hr|i|ins|kbd|li|mark|ol|p|pre|s|samp|small|strong|sub|summary|sup|u|ul';
const plainTag = new RegExp(`&#60;(/?(?:${PLAIN}))\\s*/?&#62;`, 'gi');

const renderer = {
  // Tags without attributes work; every other tag is shown as the text it is, and no parser ever sees it.
  html: ({ text }) => escaped(text).replace(plainTag, '<$1>'),
  link({ href, title, tokens }) {
    const text = this.parser.parseInline(tokens);
    return link(isNote(href) ? toMemory(noteTarget(href)) : href, text, title);
  },
  image: ({ href, text }) => link(href, `[image: ${escaped(text || href)}]`), // nothing is fetched from elsewhere
  checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
};

const marked = new Marked({ gfm: true });
marked.use({ extensions: [wikilink], renderer });

const RULES = {
  ALLOWED_TAGS: [
    'a', 'abbr', 'b', 'blockquote', 'br', 'code', 'dd', 'del', 'details', 'div', 'dl', 'dt', 'em', 'h1', 'h2', 'h3', 'h4',
    'h5', 'h6', 'hr', 'i', 'ins', 'kbd', 'li', 'mark', 'ol', 'p', 'pre', 's', 'samp', 'small', 'span', 'strong', 'sub',
    'summary', 'sup', 'table', 'tbody', 'td', 'tfoot', 'th', 'thead', 'tr', 'u', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'title', 'align', 'colspan', 'rowspan', 'start', 'rel', 'target'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:|obsidian:|#)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_TRUSTED_TYPE: true,
};

globalThis.DOMPurify.addHook('afterSanitizeAttributes', (node) => {
  node.removeAttribute('target');
  if (node.tagName !== 'A' || (node.getAttribute('href') || '#').startsWith('#')) return;
  node.setAttribute('rel', 'noopener noreferrer');
  node.setAttribute('target', '_blank');
});

/** Markdown as sanitised HTML, for `dangerouslySetInnerHTML` only. */
export function rendered(markdown) {
  return globalThis.DOMPurify.sanitize(marked.parse(markdown), RULES);
}
