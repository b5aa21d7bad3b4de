// Light, dark, or as the system has it: kept in this browser only.

const KEY = 'vault-memory-theme';

export const theme = () => localStorage.getItem(KEY) || '';

export function look(value) {
  localStorage.setItem(KEY, value);
  apply();
}

export function apply() {
  if (theme()) document.documentElement.dataset.theme = theme();
  else delete document.documentElement.dataset.theme;
}
