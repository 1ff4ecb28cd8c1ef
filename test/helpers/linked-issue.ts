import type { WithCase } from './work-item.ts';

/** Links a Work item to acme/app#12 as an import leaves it: link.md, and issue.md with this body. */
export const linkTo = (
  { write }: Pick<WithCase, 'write'>,
  body: string,
  title = 'A crash',
): void => {
  const at = '2026-11-21T10:00:00.000Z';
  const link = [
    'issue:',
    '  host: github.com',
    '  repository: acme/app',
    '  number: 12',
    '  url: https://github.com/acme/app/issues/12',
    '  status: linked',
    `  imported_at: ${at}`,
    `  synced_at: ${at}`,
  ];
  const issue = [
    `title: ${JSON.stringify(title)}`,
    'state: open',
    'labels: [bug]',
    'assignees: []',
    'milestone: null',
  ];
  write('link.md', `---\n${link.join('\n')}\n---\n\n- ${at} imported\n`);
  write('issue.md', `---\n${issue.join('\n')}\n---\n${body}`);
};
