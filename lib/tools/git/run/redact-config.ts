import { type ConfigEntry, configText, entriesOfFile } from './config.ts';

/**
 * A file of git's settings as a run is shown it: no user and password in URLs, no headers, passwords, tokens and credential
 * helpers; all else stands. Undefined where it can be shown as it is; one that git would not read is shown empty.
 */
export const shownSettings = (text: string): string | undefined =>
  SUSPECT.test(text) ? configText((entriesOfFile(text) ?? []).flatMap(shown)) : undefined;

const SECRET_NAME =
  /(?:pass|passwd|password|passphrase|token|secret|api-?key|extraheader|cookiefile)$/;
const SECRET_VALUE =
  /extraheader|authorization:|bearer |gh[pousr]_\w|github_pat_|glpat-|pass(?:word|wd)?=|token=/i;
const LOGIN = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s/?#"']*)@/gi;

// Comments, too, are read.
const SUSPECT = new RegExp(
  `://[^\\s/]*@|pass|token|secret|api-?key|cookie|helper|${SECRET_VALUE.source}`,
  'i',
);

const shown = ({ key, value }: ConfigEntry): ConfigEntry[] => {
  const isAlias = key.startsWith('alias.');
  if (/^credential\.(?:.*\.)?helper$/s.test(key)) return [];
  if (!isAlias && SECRET_NAME.test(key)) return [];
  const kept = { key: withoutLogin(key), value: value && withoutLogin(value) };
  return SECRET_VALUE.test(kept.value ?? '') ? [] : [kept];
};

// By ssh the user is no secret, and needed.
const withoutLogin = (text: string): string =>
  text.replaceAll(LOGIN, (_, scheme: string, login: string) =>
    /ssh/i.test(scheme) ? `${scheme}${login.replace(/:.*$/s, '')}@` : scheme,
  );
