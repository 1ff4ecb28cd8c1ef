/** The content of a service file. All paths are absolute, because a service manager starts programs in any directory. */
export interface Unit {
  /** The name of the service. */
  name: string;
  workspace: string;
  node: string;
  program: string;
  /** Further arguments. */
  flags: readonly string[];
  path: string;
}

/** A marker in every file that this command writes. Files without it are not replaced or removed. */
export const FILE_MARKER = 'Made by dossier service install';

/** The program and its arguments. */
export const commandOf = ({ node, program, workspace, flags }: Unit): string[] => [
  node,
  program,
  'serve',
  '--workspace',
  workspace,
  ...flags,
];

/** The line of a unit that names its workspace. */
export const descriptionOf = ({ workspace }: Pick<Unit, 'workspace'>): string =>
  `Description=Dossier on ${percent(workspace)}`;

/**
 * A unit for systemd's user manager. It uses no hardening: namespaces of the unit, and NoNewPrivileges where bubblewrap is
 * setuid, would prevent bubblewrap from creating the sandbox of agents.
 */
export const systemdUnit = (unit: Unit): string => `# ${FILE_MARKER}: the next install replaces it.
[Unit]
${descriptionOf(unit)}
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
ExecStart=${[...SHELL, ...commandOf(unit)].map(quoted).join(' ')}
Environment=${quotedValue(`PATH=${unit.path}`)}
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=30

[Install]
WantedBy=default.target
`;

// systemd refuses a program with quotes in its path and finds none with `$`; of arguments it takes both.
const SHELL = ['/bin/sh', '-c', 'exec "$@"', 'sh'];

const percent = (text: string): string => text.replaceAll('%', '%%');

const quotedValue = (text: string): string =>
  `"${percent(text).replace(/[\\"]/g, (found) => `\\${found}`)}"`;

// In a command, `$` begins a variable.
const quoted = (text: string): string => quotedValue(text).replaceAll('$', '$$$$');

/** A property list for launchd. */
export const launchdList = (unit: Unit): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${FILE_MARKER} -->
<plist version="1.0">
<dict>
  <key>Label</key><string>${xml(unit.name)}</string>
  <key>ProgramArguments</key>
  <array>
${commandOf(unit)
  .map((word) => `    <string>${xml(word)}</string>\n`)
  .join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict><key>PATH</key><string>${xml(unit.path)}</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
</dict>
</plist>
`;

const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
