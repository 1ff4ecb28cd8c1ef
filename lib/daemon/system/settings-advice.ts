import { join, relative, resolve } from 'node:path';
import { isAtOrBelow, resolveLinks } from '../../../store/base/paths.ts';
import { meantBy } from '../../../store/base/suggest.ts';
import { positionOfPath } from '../../../store/front-matter/complaints.ts';
import type { FrontMatter } from '../../../store/front-matter/front-matter.ts';
import { type FileProblem, fileProblem, Problem } from '../../../store/front-matter/problem.ts';
import { findGitDir, type GitDir } from '../../../store/fs/git-dir.ts';
import { isDirectoryItself } from '../../../store/fs/plain-path.ts';
import type { Layout } from '../../../store/layout.ts';
import { Settings } from '../../../store/records/settings.ts';
import {
  readInForce,
  readSettingsText,
  type SettingsText,
} from '../../../store/settings/globals.ts';
import { isRemote, readLocal } from '../../../store/settings/local.ts';
import { PRESETS } from '../../agents/presets.ts';
import type { Config } from '../../config.ts';
import type { Service } from '../../service.ts';
import { ignoredPaths } from '../../tools/git/read/ignore-rules.ts';
import type { Git } from '../../tools/git/run/git.ts';

interface SettingsContext {
  layout: Layout;
  config: Pick<Config, 'repo' | 'trust'>;
  git: Git;
}

/**
 * Checks readable settings for probable mistakes: unknown keys, an unknown provider, missing directories of projects, and
 * a workspace inside a project's repository that git does not ignore. Writes nothing.
 */
export const checkSettings = async (advised: SettingsContext): Promise<FileProblem[]> => {
  const text = readSettingsText(advised.layout);
  const problems = [
    ...(text === undefined ? [] : [...unknownKeys(text.source, Settings), ...checkProvider(text)]),
    ...checkProjects(advised.layout, text),
    ...(await checkPlaces(advised)),
  ];
  return problems.map((problem) => fileProblem('workspace.md', problem));
};

/** Adds the result to the problems of the workspace. */
export const reportSettingsProblems = async ({ store, config, git }: Service): Promise<void> =>
  store.problems.set('advice', await checkSettings({ layout: store.layout, config, git }));

const checkProvider = ({
  settings: { provider, providers = {} },
  source,
}: SettingsText): Problem[] => {
  const known = ['runbook', 'manual', ...Object.keys(PRESETS), ...Object.keys(providers)];
  if (provider === undefined || known.includes(provider)) return [];
  const meant = meantBy(provider, known);
  const words = meant === undefined ? `Use one of ${known.join(', ')}` : `Did you mean ${meant}?`;
  const message = `provider: there is no provider ${provider}, so no session can start. ${words}`;
  return [new Problem('unknown_provider', message, positionOfPath(source, ['provider']))];
};

const checkProjects = (layout: Layout, text: SettingsText | undefined): Problem[] => {
  const own = readLocal(layout)?.value?.projects ?? {};
  return Object.entries(text?.settings.projects ?? {}).flatMap(([name, path]) => {
    const place = resolve(layout.root, path);
    const isElsewhere = Object.hasOwn(own, name) || isRemote(path);
    if (text === undefined || isElsewhere || isDirectoryItself(resolveLinks(place))) return [];
    const message = `projects.${name}: there is no directory ${place}`;
    return [
      new Problem('missing_project', message, positionOfPath(text.source, ['projects', name])),
    ];
  });
};

const checkPlaces = async (advised: SettingsContext): Promise<Problem[]> => {
  const { layout, config } = advised;
  const projects = {
    ...readInForce(layout, config.trust).settings.projects,
    ...(config.repo !== undefined && { default: config.repo }),
  };
  const around = new Map<string, [string, GitDir]>();
  for (const [name, path] of Object.entries(projects)) {
    const found = findGitDir(resolveLinks(resolve(layout.root, path)));
    if (found !== undefined && isAtOrBelow(layout.root, found.top))
      around.set(found.top, [name, found]);
  }
  const problems = await Promise.all(
    [...around.values()].map((one) => checkPlace(advised, ...one)),
  );
  return problems.flat();
};

const checkPlace = async (
  { layout: { root }, git }: SettingsContext,
  project: string,
  { top, head_dir, gitdir }: GitDir,
): Promise<Problem[]> => {
  if (top === root)
    return [
      new Problem(
        'project_is_workspace',
        `The repository of the project ${project} is the workspace itself, ${root}. Use two directories`,
      ),
    ];
  const inside = relative(top, root);
  const repository = { path: top, git_dir: head_dir, common_dir: gitdir };
  const ignored = git.program && (await ignoredPaths(git.at(repository), [inside]));
  if (ignored && ignored.size > 0) return [];
  const message = `The workspace is inside the repository of the project ${project}, so git add there would include it. Add the line /${inside}/ to ${join(gitdir, 'info/exclude')}`;
  return [new Problem('workspace_in_repository', message)];
};

/** The parts of a JSON schema that name keys. */
interface Keys {
  type?: unknown;
  properties?: object;
  patternProperties?: object;
  anyOf?: readonly Keys[];
}

/** The unknown keys of a record, which have no effect, each with the closest known key. */
const unknownKeys = (source: FrontMatter, schema: Keys): Problem[] =>
  unknownIn(schema, source.data, []).map(({ path, known }) => {
    const meant = meantBy(path.at(-1) ?? '', known);
    const message = `${path.join('.')} is not a setting and has no effect${meant === undefined ? '' : `. Did you mean ${meant}?`}`;
    return new Problem('unknown_setting', message, positionOfPath(source, path));
  });

interface Unknown {
  path: string[];
  /** The known keys at that level. */
  known: string[];
}

const unknownIn = (schema: Keys, value: unknown, path: readonly string[]): Unknown[] => {
  const keys = schema.anyOf?.find(namesKeys) ?? schema;
  if (typeof value !== 'object' || value === null || !namesKeys(keys)) return [];
  const properties = new Map<string, Keys>(Object.entries(keys.properties ?? {}));
  const [any] = Object.values<Keys>({ ...keys.patternProperties });
  return Object.entries(value).flatMap(([key, inner]) => {
    const part = properties.get(key) ?? any;
    const at = [...path, key];
    return part === undefined
      ? [{ path: at, known: [...properties.keys()] }]
      : unknownIn(part, inner, at);
  });
};

const namesKeys = ({ properties, patternProperties }: Keys): boolean =>
  properties !== undefined || patternProperties !== undefined;
