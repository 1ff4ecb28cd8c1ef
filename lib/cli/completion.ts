import { UsageError } from '../config.ts';
import type { Call, Command } from './line/command.ts';
import { OPTIONS, type Option, type OptionName } from './line/options.ts';
import { EVERYWHERE } from './line/read.ts';

/** `dossier completion SHELL`: what makes that shell complete commands, options and the ids of Work items. */
export const completion = async ({ commands, words: [shell = ''] }: Call): Promise<number> => {
  const script = SCRIPTS[shell];
  if (script === undefined)
    throw new UsageError(`completion takes one of ${Object.keys(SCRIPTS).join(', ')}`);
  process.stdout.write(script(commands));
  return 0;
};

const SCRIPTS: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash: (commands) => `_dossier() {
  local word=\${COMP_WORDS[COMP_CWORD]} command= at
  local -a workspace=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at-1]} in
    --workspace) workspace=(--workspace "\${COMP_WORDS[at]/#\\~/$HOME}") ;;
    --*) ;;
    *) [[ -n $command || \${COMP_WORDS[at]} == -* ]] || command=\${COMP_WORDS[at]} ;;
    esac
  done
  COMPREPLY=()
  case \${COMP_WORDS[COMP_CWORD-1]} in
  ${DIRECTORIES}) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
  --file) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  local words=
  if [[ $word == -* ]]; then
    case $command in
${caseLines(commands, flagsOf, (flags) => `words="${flags}"`)}
    esac
  else
    case $command in
    '' | help) words="${namesOf(commands)}" ;;
    ${takingItems(commands)}) words=$(dossier ls "\${workspace[@]}" 2>/dev/null | cut -f1) ;;
${caseLines(commands, choicesOf, (choices) => `words="${choices}"`)}
    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -o default -F _dossier dossier
`,
  // As a file on the fpath it is run when it is first asked, and has to answer then, too.
  zsh: (commands) => `#compdef dossier
_dossier() {
  local -a names items workspace
  local command at
  names=(
${commands.map(({ name, summary }) => `    ${quoted(`${name}:${summary}`)}`).join('\n')}
  )
  for ((at = 2; at < CURRENT; at++)); do
    case $words[at-1] in
    --workspace) workspace=(--workspace "\${words[at]/#\\~/$HOME}") ;;
    --*) ;;
    *) [[ -n $command || $words[at] == -* ]] || command=$words[at] ;;
    esac
  done
  case $words[CURRENT-1] in
  ${DIRECTORIES}) _files -/; return ;;
  --file) _files; return ;;
  esac
  if [[ $PREFIX == -* ]]; then
    case $command in
${caseLines(commands, flagsOf, (flags) => `compadd -- ${flags}`)}
    esac
    return
  fi
  case $command in
  '' | help) _describe command names ;;
  ${takingItems(commands)})
    items=(\${(f)"$(dossier ls $workspace 2>/dev/null | awk -F '\\t' '{ gsub(/[:\\\\]/, " ", $3); print $1 ":" $3 }')"})
    _describe 'Work item' items || _files ;;
${caseLines(commands, choicesOf, (choices) => `compadd -- ${choices}`)}
  *) _files ;;
  esac
}
if [[ $funcstack[1] == _dossier ]]; then _dossier "$@"; else compdef _dossier dossier; fi
`,
  fish: (commands) =>
    [
      FISH,
      'complete -c dossier -f',
      ...commands.map(
        ({ name, summary }) =>
          `complete -c dossier -n '__dossier_in "" help' -a ${name} -d ${quoted(summary)}`,
      ),
      ...commands.flatMap((command) =>
        (Object.entries(command.options) as [OptionName, string][]).map(
          ([option, about]) =>
            `complete -c dossier -n '__dossier_in ${patternOf(command).replace('|', ' ')}' ${fishFlag(option)} -d ${quoted(about)}`,
        ),
      ),
      ...commands.flatMap((command) =>
        choicesOf(command).map(
          (choice) => `complete -c dossier -n '__dossier_in ${command.name}' -a ${choice}`,
        ),
      ),
      `complete -c dossier -n '__dossier_in ${takingItems(commands).replaceAll('|', ' ')}' -a '(__dossier_items)'`,
      ...EVERYWHERE.map((option) => `complete -c dossier ${fishFlag(option)}`),
      'complete -c dossier -n "__dossier_in new import proof" -F',
      '',
    ].join('\n'),
};

const DIRECTORIES = '--workspace|--repo';

// Which command stands on the line, "" for none yet; and the Work items of the workspace that it names.
const FISH = `function __dossier_in
    set -l command ''
    set -l before ''
    set -l words (commandline -opc)
    for word in $words[2..]
        if not string match -q -- '-*' $word; and not string match -q -- '--*' $before
            set command $word
            break
        end
        set before $word
    end
    contains -- "$command" $argv
end
function __dossier_items
    set -l words (commandline -opc)
    set -l workspace
    if set -l at (contains -i -- --workspace $words)
        set workspace --workspace (string replace -r '^~' $HOME -- $words[(math $at + 1)])
    end
    dossier ls $workspace 2>/dev/null | cut -f1,3
end`;

const fishFlag = (name: OptionName): string => {
  const { type, short }: Option = OPTIONS[name];
  const long = short === undefined ? `-l ${name}` : `-s ${short} -l ${name}`;
  return type === 'string' ? `${long} -r${TAKES_PATH.has(name) ? ' -F' : ''}` : long;
};

const TAKES_PATH: ReadonlySet<OptionName> = new Set(['workspace', 'repo', 'file']);

const namesOf = (commands: readonly Command[]): string =>
  commands.map(({ name }) => name).join(' ');

const flagsOf = ({ options }: Command): string[] =>
  [...Object.keys(options), ...EVERYWHERE].map((name) => `--${name}`);

const takingItems = (commands: readonly Command[]): string =>
  commands
    .filter(({ words }) => /\bITEM\b/.test(words))
    .map(({ name }) => name)
    .join('|');

/** Of words like `install|status|uninstall`. */
const choicesOf = ({ words }: Command): string[] =>
  /^[a-z]+(?:\|[a-z]+)+$/.test(words) ? words.split('|') : [];

const caseLines = (
  commands: readonly Command[],
  listOf: (command: Command) => string[],
  doing: (list: string) => string,
): string =>
  commands
    .filter((command) => listOf(command).length > 0)
    .map((command) => `    ${patternOf(command)}) ${doing(listOf(command).join(' '))} ;;`)
    .join('\n');

// A line without a command is `up`.
const patternOf = ({ name }: Command): string => (name === 'up' ? `up|""` : name);

// In single quotes, as all three shells read them.
const quoted = (text: string): string => `'${text.replaceAll("'", '’')}'`;
