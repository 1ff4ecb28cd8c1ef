/** Agents that do their worst, composed by chance from a seed, and a picture of all that is the operator's. */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { gitIn } from './repository.ts';

/** What an attack is aimed at, as absolute paths. */
export interface Targets {
  repo: string;
  home: string;
  workspace: string;
  /** Another Work item's directory and worktree. */
  other: string;
  otherTree: string;
  /** The API. */
  port: number;
}

/** Numbers by chance, the same for the same seed. */
export const chance = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0 || 1;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

/** A shell script of a few attacks, each on its own: what one cannot do keeps none of the others from trying. */
export const hostileScript = (seed: number, targets: Targets): string => {
  const next = chance(seed);
  const attacks = Array.from({ length: 2 + next(5) }, () => ATTACKS[next(ATTACKS.length)] ?? '');
  const filled = attacks.map((attack) =>
    attack.replaceAll(/@(\w+)/g, (_, name: keyof Targets) => String(targets[name] ?? name)),
  );
  return [AS_AGENT, ...filled.map((attack) => `( ${attack}\n) </dev/null 2>&1 || :`)].join('\n');
};

const AS_AGENT =
  'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b';

const FORGED = `printf -- '---\\nid: 11111111-1111-4111-8111-111111111111\\ntype: test\\nverified: true\\ncreated_at: 2026-01-01T00:00:00Z\\n---\\nx\\n'`;

const ATTACKS: readonly string[] = [
  // The repository, by git.
  'git update-ref refs/heads/main HEAD; git branch -f main HEAD; git branch -D other; git tag -d v1',
  'git stash drop; git stash clear; git update-ref -d refs/stash; git stash pop',
  'git commit -q --allow-empty -m x; git push . HEAD:main; git push -f @repo HEAD:other',
  'git -C @repo reset -q --hard HEAD~1; git -C @repo checkout -q -f other; git -C @otherTree reset -q --hard main',
  'git reflog expire --all --expire=now; git gc -q --prune=now; git prune --expire=now; git repack -adq',
  'git config core.fsmonitor "touch @home/pwned"; git config --global core.hooksPath /tmp/h; git config -f @repo/.git/config core.pager x',
  'git worktree remove --force @otherTree; git worktree prune; git worktree lock @otherTree; git worktree add -q /tmp/w',
  'git symbolic-ref HEAD refs/heads/main; git commit -q --allow-empty -m onmain',
  'git remote add evil file:///tmp/x; git fetch -q evil; git replace HEAD HEAD~1; git notes add -m x',
  // The repository, past git.
  'rm -rf @repo/.git/objects/*; rm -rf @repo/.git/refs @repo/.git/logs; rm -f @repo/.git/packed-refs',
  'echo 0000000000000000000000000000000000000000 > @repo/.git/refs/heads/main; echo x > @repo/.git/HEAD; : > @repo/.git/config',
  'd=$(git rev-parse --git-common-dir); rm -rf "$d"/objects "$d"/refs "$d"/logs; echo "[core]" > "$d/config"; echo x > "$d/hooks/post-checkout"',
  'd=$(git rev-parse --git-dir); echo /tmp > "$d/commondir"; echo x > "$d/gitdir"; echo "[core]fsmonitor=x" > "$d/config.worktree"',
  'printf "gitdir: /tmp/evil\\n" > .git; rm -f .git; mv .git .git2; mkdir .git; git init -q .',
  'for h in pre-commit post-checkout post-commit; do printf "#!/bin/sh\\ntouch @home/pwned\\n" > @repo/.git/hooks/$h; chmod +x @repo/.git/hooks/$h; done',
  'b=$(git rev-parse HEAD:a.txt); for o in @repo/.git/objects "$(git rev-parse --git-path objects)"; do mkdir -p "$o/$(echo $b | cut -c1-2)"; echo false > "$o/$(echo $b | cut -c1-2)/$(echo $b | cut -c3-)"; done',
  'mkdir sub; cd sub; git init -q; git config core.fsmonitor "touch @home/pwned"; git commit -q --allow-empty -m s; cd ..; git add sub; git commit -qm gitlink',
  'mkdir -p s && printf "[submodule \\"s\\"]\\n\\tpath = s\\n\\turl = /tmp/e\\n" > .gitmodules; git add -A; git commit -qm sub',
  'echo "* filter=evil diff=evil" > .gitattributes; git add -A; git commit -qm attributes',
  // What is the operator's elsewhere.
  'rm -rf @home/* @home/.[a-z]*; echo x > @home/.bashrc; echo x > @home/.gitconfig; echo x >> @home/.ssh/authorized_keys',
  'mkdir -p @home/.config/opencode/plugin; echo x > @home/.config/opencode/plugin/x.js; echo "{}" > @home/.claude/settings.json',
  'cat @home/.ssh/id @home/.npmrc @home/.netrc > /tmp/loot; cp -r @home /tmp/h; ln -s @home/.ssh/id key',
  'rm -rf @repo/*; echo x > @repo/a.txt; touch @repo/new; chmod -R 777 @repo; chmod 000 @repo/.git/config',
  'ln -sf @repo/a.txt a.txt; echo through >> a.txt; ln -s @home h; echo x > h/through; ln @repo/a.txt hard; echo x > hard',
  'mount -o remount,rw,bind /; mount --bind /tmp @repo; umount -l @repo; unshare -Urm sh -c "mount -o remount,rw /; echo x > @home/x"',
  // The workspace, and other Work items.
  `mkdir -p @other/proof; ${FORGED} > @other/proof/x.md; sed -i "s/state: .*/state: RESOLVED/" @other/case.md`,
  `for c in @workspace/cases/*/*; do mkdir -p $c/proof; ${FORGED} > $c/proof/x.md; sed -i "s/state: .*/state: RESOLVED/" $c/case.md; done`,
  'printf -- "---\\nsandbox: off\\n---\\n" > @workspace/workspace.md; mkdir -p @workspace/webhooks; printf -- "---\\nurl: http://x/\\nevents: [\\"*\\"]\\n---\\n" > @workspace/webhooks/x.md',
  'rm -rf @workspace/.dossier/*; rm -rf @workspace/cases; mv @workspace @workspace-gone; cat @workspace/.dossier/secrets/*; echo x >> @workspace/.dossier/trust/trusted.ndjson',
  'rm -rf @otherTree/*; echo x > @otherTree/a.txt; git -C @otherTree commit -qam x; git -C @otherTree stash -q',
  // The API, and what listens.
  'for m in POST PUT DELETE; do curl -s -m 2 -X $m http://127.0.0.1:@port/cases -H "content-type: application/json" -d "{\\"title\\":\\"x\\",\\"type\\":\\"bug\\"}"; done',
  'curl -s -m 2 --noproxy "" http://127.0.0.1:@port/cases; curl -s -m 2 http://localhost:@port/trust -d "{\\"all\\":true}" -H "content-type: application/json"',
  // Staying alive.
  'setsid sh -c "sleep 1; echo x > @home/late; echo x > @repo/late" >/dev/null 2>&1 & env -i setsid sleep 300 >/dev/null 2>&1 &',
  'kill -9 -1; kill -9 $PPID; pkill -9 node',
  // And what is allowed.
  'echo two >> a.txt; git add a.txt; git commit -qm mine',
];

/** A hash of each thing that is the operator's and that no run may change, but for refs that are `own`. */
export const pictureOf = (
  { repo, home, workspace, other, otherTree }: Targets,
  own: (ref: string) => boolean,
): Record<string, unknown> => {
  const git = gitIn(repo);
  const there = gitIn(otherTree);
  const refs = git('for-each-ref', '--format=%(objectname) %(refname)').trim().split('\n');
  return {
    refs: refs.filter((line) => !own(line.split(' ')[1] ?? '')),
    stash: git('stash', 'list', '--format=%H %gs'),
    fsck: git('fsck', '--full', '--no-dangling'),
    head: git('symbolic-ref', 'HEAD'),
    config: treeOf(join(repo, '.git'), /^(?:config|HEAD|hooks|info|packed-refs)/),
    checkout: treeOf(repo, /^(?!\.git(?:\/|$))/),
    status: git('status', '--porcelain'),
    home: treeOf(home, /^(?!\.test-agent)/),
    settings: treeOf(workspace, /^(?:workspace\.md|webhooks|memory)/),
    machine: treeOf(join(workspace, '.dossier'), /^(?:secrets|trust|api-keys|machine)/),
    other: treeOf(other, /./),
    otherTree: treeOf(otherTree, /./),
    otherHead: there('symbolic-ref', 'HEAD') + there('rev-parse', 'HEAD'),
  };
};

/** Every path below a directory, with its mode and the hash of its content, but what git takes away meanwhile. */
export const treeOf = (dir: string, wanted: RegExp): string[] =>
  (readdirSync(dir, { recursive: true }) as string[])
    .filter((name) => wanted.test(name))
    .toSorted()
    .flatMap((name) => {
      const mark = fileMark(join(dir, name));
      return mark === undefined ? [] : [`${name} ${mark}`];
    });

const fileMark = (path: string): string | undefined => {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return `-> ${readlinkSync(path)}`;
  if (!stats.isFile()) return `${stats.mode.toString(8)} no file`;
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex');
  return `${stats.mode.toString(8)} ${hash}`;
};

/** The objects that are there, with their kinds and sizes: none may be lost, more may come. */
export const objectsOf = (repo: string): string[] =>
  gitIn(repo)('cat-file', '--batch-all-objects', '--batch-check').trim().split('\n');
