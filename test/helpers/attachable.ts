import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporaryDirectory, writeFiles } from './repository.ts';

const AGENT = fileURLToPath(new URL('./acp-agent.js', import.meta.url));

// Where Codex keeps a conversation, which the agent of the tests does not. Its id has the agent's pid.
const REMEMBERS = `
dir="$CODEX_HOME/sessions/2026/01/02"
mkdir -p "$dir"
file="$dir/rollout-2026-01-02-s-$PPID.jsonl"
printf '{"type":"session_meta","payload":{"cwd":"%s"}}\\n' "$PWD" > "$file"
printf '{"type":"event_msg","payload":{"type":"user_message","message":"The prompt of the daemon"}}\\n' >> "$file"
`;

// Says where it is, tries what it may not do, and writes down what is typed, until an empty line.
const INTERFACE = `#!/bin/sh
echo "arguments: $*"
[ -t 0 ] && [ -t 1 ] && echo "at a terminal: $TERM"
touch written.txt 2> /dev/null && echo 'can write' || echo 'cannot write'
[ -e "$HOME/secret.txt" ] && echo 'sees the home' || echo 'sees no home'
perl -e '$c = "x"; print ioctl(STDIN, 0x5412, $c) ? "can type\\n" : "cannot type: " . ($! + 0) . "\\n"'
file=$(ls "$CODEX_HOME"/sessions/*/*/*/rollout-*-"$2".jsonl) || exit 3
echo ready
while read -r said && [ "$said" != "" ]; do
  printf '{"type":"event_msg","payload":{"type":"user_message","message":"%s"}}\\n' "$said" >> "$file"
  if [ "$said" = commit ]; then echo more >> a.txt && git commit -qam 'At the terminal'; fi
  echo "heard $said"
done
`;

/** Settings and environment of a daemon whose agent is run as Codex, with a terminal interface of its own. */
export const attachable = (t: TestContext, more = '') => {
  const home = temporaryDirectory(t);
  const bin = join(home, 'bin');
  writeFiles(home, {
    'secret.txt': 'secret\n',
    '.codex/plan.sh': REMEMBERS,
    'bin/codex': INTERFACE,
  });
  chmodSync(join(bin, 'codex'), 0o755);
  const settings = [
    'provider: codex',
    'sandbox: auto',
    'providers:',
    '  codex:',
    '    kind: acp',
    `    command: ${process.execPath}`,
    `    args: [${JSON.stringify(AGENT)}, sh]`,
    ...(more === '' ? [] : [more]),
  ].join('\n');
  const env = {
    HOME: home,
    CODEX_HOME: join(home, '.codex'),
    PATH: `${bin}:${process.env.PATH}`,
  };
  const work = (script: string): void => writeFileSync(join(home, '.codex/work.sh'), script);
  return { home, settings, env, work };
};
