import type { ReadEntry } from '../../store/front-matter/entry.ts';
import { type Layout, layoutOf } from '../../store/layout.ts';
import { sandboxSettings } from '../../store/records/applied.ts';
import type { Settings } from '../../store/records/settings.ts';
import { readInForce, readSettings } from '../../store/settings/globals.ts';
import { workspaceObstacle } from '../../store/workspace/workspace-files.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import { cleanEnvironment } from '../tools/process/environment.ts';
import type { Call } from './args/command.ts';
import type { DoctorContext, DoctorFinding } from './doctor-finding.ts';
import { codeHost, machine, providers } from './doctor-programs.ts';
import { workspace } from './doctor-workspace.ts';
import { type Say, sayJson, toStandardOutput } from './output/terminal.ts';

/**
 * Reports what is installed, what is missing and what to install. Takes no lock and writes nothing, so it works beside a
 * running daemon. Returns 1 if something required is missing.
 */
export const doctor = async (
  { config, values }: Call,
  say: Say = toStandardOutput,
): Promise<number> => {
  const env = cleanEnvironment(config.env);
  const layout = layoutOf(config.workspace, config.state);
  const readable = workspaceObstacle(layout.root) === undefined;
  const settings = readable ? trustedSettings(layout, config.trust) : undefined;
  const { sandbox: setting, sandbox_readable } = sandboxSettings(settings?.value ?? {});
  const sandbox = createSandbox(setting, env, sandbox_readable);
  const context: DoctorContext = {
    config,
    layout,
    settings,
    sandbox,
    git: createGit({ env }),
  };
  const findings: DoctorFinding[] = [];
  for await (const finding of examine(context)) {
    findings.push(finding);
    if (values.json !== true) say(lineOf(finding));
  }
  const missing = findings.filter(({ verdict }) => verdict === 'missing').length;
  if (values.json === true) sayJson(say, { missing, findings });
  else
    say(
      missing === 0 ? 'Nothing required is missing.' : `${missing} of these need your attention.`,
    );
  return missing === 0 ? 0 : 1;
};

const examine = async function* (context: DoctorContext): AsyncGenerator<DoctorFinding> {
  for (const part of [machine, workspace, codeHost, providers]) yield* part(context);
};

// Untrusted settings are not tested: that would start programs that they name.
const trustedSettings = (layout: Layout, all: boolean): ReadEntry<Settings> | undefined => {
  const entry = readSettings(layout);
  if (entry?.value === undefined) return entry;
  return { ...entry, value: readInForce(layout, all).settings };
};

const lineOf = ({ verdict, about, detail }: DoctorFinding): string =>
  `${verdict.padEnd(8)}${about.padEnd(14)}${detail}`;
