// Writes with their way back: run operations one after the other, say what happened, offer Undo.
import { call, lastOperation } from './api.js';
import { vaultChanged } from './use.js';
import { complain, say } from '../ui/toast.js';

// A write that changed nothing has no way back: the note's last operation is somebody else's then.
const changed = (answer) => answer.outcome !== 'unchanged';

/** Run one write about `ref`, tell of it with `text`, and return the answer. */
export async function write(operation, given, ref, text) {
  const answer = await call(operation, given);
  vaultChanged();
  const warnings = (answer.warnings || []).join(' ');
  say(warnings ? `${text} ${warnings}` : text, {
    operations: changed(answer) ? [await lastOperation(ref).catch(() => null)] : [],
  });
  return answer;
}

/** Run `[operation, given, ref]` steps; a step that fails is named and stops nothing. */
export async function writeAll(steps, text) {
  const done = [];
  const failed = [];
  for (const [operation, given, ref] of steps) {
    try {
      if (changed(await call(operation, given))) done.push(ref);
    } catch (error) {
      failed.push(error);
    }
  }
  vaultChanged();
  const operations = [];
  for (const ref of done.reverse()) operations.push(await lastOperation(ref).catch(() => null));
  if (done.length) say(text(done.length), { operations });
  if (failed.length) complain(failed[0]);
}
