// Completion: scripts that complete the commands of this program in a shell.
// Owns their text, made of the tree. Leaves the tree to tree/.
// K1  Every command and option of the tree is in each script, so that none can be forgotten.

import type { Command } from "commander"
import { say } from "../output.ts"

interface Place {
  /** The words that lead here, after the program. */
  readonly path: string
  readonly words: ReadonlyArray<string>
}

const visible = (command: Command): ReadonlyArray<Command> =>
  command.commands.filter((each) => !each.name().startsWith("-"))

/** Every command, with what may follow it. */
export const placesOf = (command: Command, path: ReadonlyArray<string> = []): ReadonlyArray<Place> => {
  const names = visible(command).flatMap((each) => [each.name(), ...each.aliases()])
  const options = command.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag !== undefined))
  return [
    { path: path.join(" "), words: [...names, ...options, "--help"] },
    ...visible(command).flatMap((each) =>
      [each.name(), ...each.aliases()].flatMap((name) => placesOf(each, [...path, name]))
    )
  ]
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const shellCases = (places: ReadonlyArray<Place>): string =>
  places.map(({ path, words }) => `    ${quoted(path)}) words=${quoted(words.join(" "))} ;;`).join("\n")

const bash = (places: ReadonlyArray<Place>): string => `# reverie completion for bash: source <(reverie completion bash)
_reverie() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" word try
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$word" in -*) continue ;; esac
    try="\${path:+$path }$word"
    case "$try" in
${places.map(({ path }) => `    ${quoted(path)}) path="$try" ;;`).join("\n")}
    esac
  done
  case "$path" in
${shellCases(places)}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _reverie reverie
`

const zsh = (places: ReadonlyArray<Place>): string => `#compdef reverie
# reverie completion for zsh: reverie completion zsh > "\${fpath[1]}/_reverie"
_reverie() {
  local path="" candidates="" word try
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "$word" in -*) continue ;; esac
    try="\${path:+$path }$word"
    case "$try" in
${places.map(({ path }) => `    ${quoted(path)}) path="$try" ;;`).join("\n")}
    esac
  done
  case "$path" in
${places.map(({ path, words }) => `    ${quoted(path)}) candidates=${quoted(words.join(" "))} ;;`).join("\n")}
  esac
  compadd -- \${=candidates} || _files
}
compdef _reverie reverie
`

const fish = (places: ReadonlyArray<Place>): string => `# reverie completion for fish: reverie completion fish | source
function __reverie_path
  set -l path ""
  for word in (commandline -opc)[2..-1]
    string match -q -- '-*' $word; and continue
    set -l try (string trim -- "$path $word")
    contains -- $try ${places
      .filter(({ path }) => path !== "")
      .map(({ path }) => quoted(path))
      .join(" ")}; and set path $try
  end
  echo $path
end
${places
  .map(
    ({ path, words }) =>
      `complete -c reverie -n 'test "(__reverie_path)" = ${JSON.stringify(path)}' -a ${quoted(words.join(" "))}`
  )
  .join("\n")
  .replaceAll('"(__reverie_path)"', '(__reverie_path)""')}
`

const scripts = { bash, zsh, fish } as const

export type Shell = keyof typeof scripts

export const completion = (shell: Shell, root: Command): number => {
  say(scripts[shell](placesOf(root)).trimEnd())
  return 0
}
