/** Puts text into a Markdown code block whose fence is longer than any in the text, so that nothing inside ends it. */
export const fenceOff = (text: string, info: string): string => {
  const fence = fenceFor(text);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  return `${fence}${info}\n${text}${end}${fence}`;
};

/** A fence that is longer than any in the text. */
export const fenceFor = (text: string): string => {
  const runs = text.match(/`{3,}/g) ?? [];
  return '`'.repeat(runs.reduce((longest, { length }) => Math.max(longest, length + 1), 3));
};

/** Quotes a word for a POSIX shell, if it needs quotes. */
export const shellQuoted = (word: string): string =>
  /^(?!~)[\w./~+:@%-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;

/** The place of an error in a JSON text, counted from 1. V8 reports it only in the message, and not for every error. */
export const jsonErrorPlace = (
  text: string,
  { message }: Error,
): { line: number; column: number } | undefined => {
  const [, position] = / at position (\d+)/.exec(message) ?? [];
  if (position === undefined) return undefined;
  const lines = text.slice(0, Number(position)).split('\n');
  return { line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 };
};

const LOGIN = /\b([a-z][a-z0-9+.-]*:\/\/)([^\s/?#"']*)@/gi;

/** Removes logins from URLs. The user name of an ssh URL is needed and no secret. */
export const withoutLogin = (text: string): string =>
  text.replaceAll(LOGIN, (_, scheme: string, login: string) =>
    /ssh/i.test(scheme) ? `${scheme}${login.replace(/:.*$/s, '')}@` : scheme,
  );

/** A command of `dossier` to paste into a shell. `workspace`: undefined where it is the default one. */
export const dossierCommand = (words: string, workspace: string | undefined): string =>
  `dossier ${words}${workspace === undefined ? '' : ` --workspace ${shellQuoted(workspace)}`}`;

/** The command that shows untrusted values and asks for confirmation. */
export const trustCommandFor = ({ root }: { root: string }): string =>
  dossierCommand('trust', root);

/** The command that repairs what `dossier check` finds. */
export const fixCommand = ({ root }: { root: string }): string =>
  dossierCommand('check --fix', root);
