import { withoutLogin } from '../../../../store/base/text.ts';
import { type ConfigEntry, configText, entriesOfFile } from './config.ts';

/**
 * Removes secrets from a git configuration file before a run sees it: logins in URLs, headers, passwords, tokens and
 * credential helpers. Undefined if there is nothing to remove. A file that git would reject becomes empty.
 */
export const redactConfig = (text: string): string | undefined =>
  SUSPECT.test(text) ? configText((entriesOfFile(text) ?? []).flatMap(shown)) : undefined;

const SECRET_NAME =
  /(?:pass|passwd|password|passphrase|token|secret|api-?key|extraheader|cookiefile)$/;
const SECRET_VALUE =
  /extraheader|authorization:|bearer |gh[pousr]_\w|github_pat_|glpat-|pass(?:word|wd)?=|token=/i;

// Comments are searched, too.
const SUSPECT = new RegExp(
  `://[^\\s/]*@|pass|token|secret|api-?key|cookie|helper|${SECRET_VALUE.source}`,
  'i',
);

const shown = ({ key, value }: ConfigEntry): ConfigEntry[] => {
  const isAlias = key.startsWith('alias.');
  if (/^credential\.(?:.*\.)?helper$/s.test(key)) return [];
  if (!isAlias && SECRET_NAME.test(key)) return [];
  const kept = { key: withoutLogin(key), value: value && withoutLogin(value) };
  return looksSecret(kept.value ?? '') ? [] : [kept];
};

/** Whether a text has the form of a token, or of a parameter for one. */
export const looksSecret = (text: string): boolean => SECRET_VALUE.test(text);
