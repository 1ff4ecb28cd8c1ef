/** What a service manager is told: all of it absolute, since it starts programs anywhere. */
export interface Unit {
  /** What the manager knows it by. */
  name: string;
  workspace: string;
  node: string;
  program: string;
  /** Behind the workspace. */
  flags: readonly string[];
  path: string;
}

/** Stands in every file that was made here: no other one is written over or removed. */
export const MADE_HERE = 'Made by dossier service install';

/** The program and its arguments. */
export const commandOf = ({ node, program, workspace, flags }: Unit): string[] => [
  ...[node, program, 'serve', '--workspace', workspace],
  ...flags,
];

/**
 * A unit of systemd's user manager. Nothing of its hardening: each of its namespaces, and NoNewPrivileges where bubblewrap is
 * setuid, would keep the sandbox around agents from being made.
 */
export const systemdUnit = (unit: Unit): string => `# ${MADE_HERE}: made anew by the next one.
[Unit]
Description=Dossier on ${percent(unit.workspace)}
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
ExecStart=${commandOf(unit).map(quoted).join(' ')}
Environment=${quotedValue(`PATH=${unit.path}`)}
Restart=on-failure
RestartSec=2
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=30

[Install]
WantedBy=default.target
`;

const percent = (text: string): string => text.replaceAll('%', '%%');

const quotedValue = (text: string): string =>
  `"${percent(text).replace(/[\\"]/g, (found) => `\\${found}`)}"`;

// In a command a dollar begins a variable, too.
const quoted = (text: string): string => quotedValue(text).replaceAll('$', '$$$$');

/** A property list for launchd. */
export const launchdList = (unit: Unit): string => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${MADE_HERE} -->
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
