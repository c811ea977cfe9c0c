// Minds: the part of the tree about what assistants remember and what prompts hold: memory, compactions, dreams, reminders, prompts, replay.

import { Argument, type Command, Option } from "commander"
import { branch, does, leaf, type Trunk } from "./leaf.ts"
import {
  atLeastOne,
  endMoment,
  fleetOption,
  gathered,
  modelOption,
  moment,
  seconds,
  timeoutOption,
  whole
} from "./options.ts"
import { addSearching } from "./searching.ts"

const addBlocks = (memory: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const show = leaf(memory, "show <id> [block]", {
    kind: "look",
    says: "show what one keeps, or one of its blocks",
    example: "memory show desk persona"
  }).addOption(new Option("--version <n>", "an older version of the block").argParser(whole))
  does(show, trunk, async (options, id, block) =>
    (await import("../commands/agents/memory.ts")).show(id, block, options, stop)
  )
  const search = addSearching(
    leaf(memory, "search <id> <question>", {
      kind: "look",
      says: "find memories of one, with why they were found",
      example: 'memory search desk "Which berth has the Birch?"'
    }).addOption(new Option("--limit <n>", "most memories").argParser(atLeastOne).default(10))
  )
  does(search, trunk, async (options, id, question) =>
    (await import("../commands/agents/memory.ts")).memory(id, "recall" as never, question, options, stop)
  )
  const edit = leaf(memory, "edit <id> <block> [text]", {
    kind: "order",
    says: "change a block of one; without a text, to what is piped in",
    example: 'memory edit desk persona --append "Answers in Danish."'
  })
    .option("--append", "write it at the end", false)
    .option("--replace <old>", "write it in the place of this")
    .option("--undo", "undo the newest change", false)
  does(edit, trunk, async (options, id, block, text) =>
    (await import("../commands/agents/memory.ts")).edit(id, block, text, options, stop)
  )
  const history = leaf(memory, "history <id> <block>", {
    kind: "list",
    says: "list the versions of a block, the newest first",
    example: "memory history desk persona"
  })
  does(history, trunk, async (options, id, block) =>
    (await import("../commands/agents/memory.ts")).history(id, block, options, stop)
  )
  const forget = leaf(memory, "forget <id> <what>", {
    kind: "order",
    says: "delete a block of one, or a passage (passage_...); facts are retired instead",
    example: "memory forget desk scratch --yes"
  })
  does(forget, trunk, async (options, id, block) =>
    (await import("../commands/agents/memory.ts")).forget(id, block, options, stop)
  )
}

/** What a person says of facts. */
const addFacts = (memory: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const retire = leaf(memory, "retire <id> <fact>", {
    kind: "order",
    says: "retire a fact that is wrong: it is found no more, nor learnt again from where it was learnt",
    example: 'memory retire desk fact_12_0 --reason "it was a joke"'
  }).option("--reason <text>", "why; it stands with the fact")
  does(retire, trunk, async (options, id, fact) =>
    (await import("../commands/agents/facts.ts")).retire(id, fact, options, stop)
  )
  const correct = leaf(memory, "correct <id> <fact> <text>", {
    kind: "order",
    says: "write what is right in the place of a fact; retire the new one to undo it",
    example: 'memory correct desk fact_12_0 "The ferry leaves at nine."'
  })
  does(correct, trunk, async (options, id, fact, text) =>
    (await import("../commands/agents/facts.ts")).write(id, fact, text, options, stop)
  )
  const add = leaf(memory, "add <id> <text>", {
    kind: "order",
    says: "add a fact in your own words",
    example: 'memory add desk "Berth 7 is closed until May."'
  })
  does(add, trunk, async (options, id, text) =>
    (await import("../commands/agents/facts.ts")).write(id, undefined, text, options, stop)
  )
  const profile = leaf(memory, "profile <id> <entity> [text]", {
    kind: "order",
    says: "write into what is known of someone: add, correct with --attribute, --remove, or --undo",
    example: 'memory profile desk nora "Works at the shipyard." --attribute a3'
  })
    .option("--attribute <attribute>", "which one is meant, e.g. a3; a new one when not said")
    .option("--remove", "remove it", false)
    .option("--undo", "take back what a person did last to it", false)
  does(profile, trunk, async (options, id, entity, text) =>
    (await import("../commands/agents/facts.ts")).profile(id, entity, text, options, stop)
  )
}

/** Erasing reaches further than memory: ledger, files and index too. */
const addErasing = (root: Command, trunk: Trunk): void => {
  const erase = leaf(root, "forget [id]", {
    kind: "order",
    says: "erase for good: one assistant, a text, what someone said, or everything; --dry-run says what would go",
    example: 'forget desk --text "kestrel-9713" --dry-run'
  })
    .option("--text <text>", "what contains this, in one assistant or in all; at least 4 characters")
    .option("--topic <words>", "what says these words, in any form; --dry-run lists it")
    .option("--person <name>", "what this one said, with all that was answered to it and learnt of it")
    .option(
      "--message <id...>",
      "messages by their ids (m/12/0), with all that was answered and learnt; of one assistant"
    )
    .addOption(
      new Option("--since <moment>", "what was said from then on: a date, or how long ago, like 24h or 30d").argParser(
        moment
      )
    )
    .addOption(
      new Option("--until <moment>", "what was said up to then; of a date, to the end of that day (UTC)").argParser(
        endMoment
      )
    )
    .option("--everything", "all that the fleet keeps", false)
  does(erase, trunk, async (options, id) =>
    (await import("../commands/agents/memory.ts")).erase(id, options, trunk.stop)
  )
}

const addMemory = (root: Command, trunk: Trunk): void => {
  const memory = branch(root, "memory", "look into the memory of one assistant, or change it").usage(
    "<id> [view] [question] | <command>"
  )
  addBlocks(memory, trunk)
  addFacts(memory, trunk)
  const look = leaf(memory, "look", {
    kind: "look",
    says: "what one keeps: memory ID [overview|recall|facts|profiles|dreams|rebuild]",
    example: "memory desk facts",
    isDefault: true
  })
    .argument("<id>")
    .addArgument(
      new Argument("[view]", "what to show")
        .choices(["overview", "recall", "facts", "profiles", "dreams", "rebuild"])
        .default("overview")
    )
    .argument("[question]", "what to recall")
    .addOption(new Option("--limit <n>", "most memories").argParser(atLeastOne).default(10))
  does(addSearching(look), trunk, async (options, id, view, question) =>
    (await import("../commands/agents/memory.ts")).memory(id, view, question, options, trunk.stop)
  )
}

const addNights = (root: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const compactions = leaf(root, "compactions <id>", {
    kind: "list",
    says: "list what was compacted of a history, show one compaction, or undo it",
    example: "compactions desk --show c-12"
  })
    .addOption(new Option("--show <compaction>", "what it replaced, beside its summary").conflicts(["undo", "release"]))
    .addOption(
      new Option("--undo <compaction>", "show its messages to the model again, and hold them").conflicts("release")
    )
    .option("--release", "let the history be compacted again after an undo")
    .option("--dry-run", "say what would be done, and do nothing", false)
    .option("-y, --yes", "ask nothing back", false)
    .option("--id <key>", "idempotency key; undoing the same one twice is done once anyway")
    .addOption(fleetOption())
    .addOption(modelOption("env"))
    .option("--wait", "wait until it is done")
    .option("--no-wait", "end as soon as it is durable")
    .addOption(timeoutOption())
  does(compactions, trunk, async (options, id) =>
    (await import("../commands/agents/compactions.ts")).compactions(id, options, stop)
  )
  const compact = leaf(root, "compact <id>", {
    kind: "order",
    says: "compact the older part of a history now; --dry-run tells how full the window is",
    example: "compact desk --wait"
  })
  does(compact, trunk, async (options, id) =>
    (await import("../commands/agents/compactions.ts")).compact(id, options, stop)
  )
  const dream = leaf(root, "dream <id>", {
    kind: "order",
    says: "start dreaming, show what the last dream made of its memory, or take one back or accept it",
    example: "dream desk --report"
  })
    .option("--report", "show the last dream, and start none", false)
    .addOption(new Option("--undo <dream>", "take back what a dream made of its memory").conflicts(["report", "for"]))
    .addOption(
      new Option("--accept <dream>", "let what waits of a dream be done").conflicts(["report", "for", "undo", "reason"])
    )
    .option("--item <item...>", "take back, or accept, these of it alone: fact_12_0, fact/fact_12_0, entity/ann")
    .option("--reason <text>", "why it is taken back; it stands with each fact")
    .addOption(new Option("--for <seconds>", "sleep at most so long").argParser(seconds))
  does(dream, trunk, async (options, id) =>
    (await import("../commands/agents/compactions.ts")).dream(id, options, stop)
  )
}

const addReminders = (root: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const reminders = branch(root, "reminders", "list the reminders of one assistant, set, change or cancel one")
  const ls = leaf(reminders, "ls <id>", {
    kind: "list",
    says: "list its reminders, the next one first, with what became of their times",
    example: "reminders ls desk",
    isDefault: true
  })
  does(ls, trunk, async (options, id) => (await import("../commands/agents/reminders.ts")).list(id, options, stop))
  const set = leaf(reminders, "set <id> <reminder> <note>", {
    kind: "order",
    says: "set a reminder, or change the one of that name",
    example: 'reminders set desk standup "Ask for news." --cron "0 9 * * 1-5" --time-zone Europe/Berlin'
  })
    .option("--at <time>", "at a clock time, 2026-11-24T09:00, or with an offset")
    .addOption(new Option("--in <seconds>", "in so many seconds").argParser(atLeastOne))
    .option("--cron <rule>", "again and again: minute hour day month weekday")
    .option("--rrule <rule>", "by a calendar rule, FREQ=MONTHLY;BYDAY=-1FR;BYHOUR=17;BYMINUTE=0")
    .option("--start <time>", "the first time of a calendar rule")
    .option("--time-zone <name>", "whose clocks are meant, such as Europe/Berlin")
    .option("--quiet <hours>", "hours in which it does not remind, 22:00-07:00")
    .addOption(new Option("--in-quiet <what>", "what falls into them").choices(["later", "skip"]).default("later"))
    .addOption(new Option("--catch-up <policy>", "what is due late").choices(["once", "skip", "all"]))
    .addOption(
      new Option("--only-when <what...>", "ask the model only if there is any of it").choices([
        "ambient",
        "journal",
        "goals"
      ])
    )
  does(set, trunk, async (options, id, reminder, note) =>
    (await import("../commands/agents/reminders.ts")).set(id, reminder, note, options, stop)
  )
  const cancel = leaf(reminders, "cancel <id> <reminder>", {
    kind: "order",
    says: "cancel a reminder; a time of it that still waits is dropped",
    example: "reminders cancel desk standup"
  })
  does(cancel, trunk, async (options, id, reminder) =>
    (await import("../commands/agents/reminders.ts")).cancel(id, reminder, options, stop)
  )
}

const addKind = (command: Command): Command =>
  command.option("--component", "a component between the static ones, and no template", false)

const addVersion = (command: Command): Command =>
  addKind(command).addOption(new Option("--expected <version>", "change this version or none").argParser(whole))

const addPromptReadings = (prompts: Command, { stop, ...trunk }: Trunk): void => {
  const ls = leaf(prompts, "ls", {
    kind: "list",
    says: "list the templates, or the components of every prompt",
    example: "prompts ls --component",
    isDefault: true
  })
  does(addKind(ls), { stop, ...trunk }, async (options) => (await import("../commands/prompts.ts")).list(options, stop))
  const show = leaf(prompts, "show <key>", {
    kind: "look",
    says: "show the text of one",
    example: "prompts show default"
  })
  does(addKind(show), { stop, ...trunk }, async (options, key) =>
    (await import("../commands/prompts.ts")).show(key, options, stop)
  )
  const history = leaf(prompts, "history <key>", {
    kind: "list",
    says: "list the versions of one, the newest first",
    example: "prompts history default"
  })
  does(addKind(history), { stop, ...trunk }, async (options, key) =>
    (await import("../commands/prompts.ts")).history(key, options, stop)
  )
  const share = leaf(prompts, "export <key>", {
    kind: "look",
    says: "print one as JSON, for prompts import",
    example: "prompts export default"
  })
  does(addKind(share), { stop, ...trunk }, async (options, key) =>
    (await import("../commands/prompts.ts")).share(key, options, stop)
  )
}

const addPromptCopies = (prompts: Command, trunk: Trunk): void => {
  const clone = leaf(prompts, "clone <key> <new>", {
    kind: "order",
    says: "copy a template under a new key, or with --component the text of a component",
    example: "prompts clone default mine"
  }).option("--name <name>", "what the copy is called")
  does(addKind(clone), trunk, async (options, key, to) =>
    (await import("../commands/prompts.ts")).clone(key, to, options, trunk.stop)
  )
  const take = leaf(prompts, "import <file>", {
    kind: "order",
    says: "take in what prompts export printed; - is what is piped in",
    example: "prompts import mine.json"
  })
    .option("--overwrite", "replace what has its key", false)
    .addOption(new Option("--expected <version>", "replace this version or none").argParser(whole))
  does(take, trunk, async (options, file) => (await import("../commands/prompts.ts")).take(file, options, trunk.stop))
}

const addPrompts = (root: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const prompts = branch(root, "prompts", "show and change the templates and components that prompts are made of")
  addPromptReadings(prompts, trunk)
  addPromptCopies(prompts, trunk)
  const write = leaf(prompts, "write <key> [text]", {
    kind: "order",
    says: "write a template or a component; the next prompt has it",
    example: 'prompts write weather "It is {weather}." --component --after 1000'
  })
    .option("--name <name>", "what it is called")
    .option("--description <text>", "what it is for")
    .option("--category <word>", "of a template: system_prompt, reflection, or a word of yours")
    .addOption(new Option("--role <role>", "of a component").choices(["system", "user", "assistant", "tool"]))
    .addOption(new Option("--after <id>", "of a component: the static one that it stands behind").argParser(whole))
    .option("--template <key>", "of a component: the template whose text it gets")
    .addOption(new Option("--enabled <answer>", "of a component: whether it is shown").choices(["yes", "no"]))
  does(addVersion(write), trunk, async (options, key, text) =>
    (await import("../commands/prompts.ts")).write(key, text, options, stop)
  )
  const rm = leaf(prompts, "rm <key>", {
    kind: "order",
    says: "delete one; a built-in template of its key is back",
    example: "prompts rm default"
  })
  does(addVersion(rm), trunk, async (options, key) =>
    (await import("../commands/prompts.ts")).remove(key, options, stop)
  )
  const undo = leaf(prompts, "undo <key>", {
    kind: "order",
    says: "undo the newest change of one, and the one before it when called again",
    example: "prompts undo default"
  })
  does(addVersion(undo), trunk, async (options, key) =>
    (await import("../commands/prompts.ts")).undo(key, options, stop)
  )
}

const addReplay = (root: Command, trunk: Trunk): void => {
  const { stop } = trunk
  const replay = leaf(root, "replay <id>", {
    kind: "list",
    says: "replay a history from its ledger, without any effect",
    example: "replay desk --verify"
  })
    .addOption(new Option("--from <n>", "the first event").argParser(whole))
    .addOption(new Option("--to <n>", "the last event").argParser(whole))
    .option("--until-state <state>", "stop where it comes into this state")
    .option("--verify", "compare its end with what is stored, byte for byte", false)
  does(replay, trunk, async (options, id) => (await import("../commands/agents/replay.ts")).replay(id, options, stop))
  const fork = leaf(root, "fork <id>", {
    kind: "look",
    says: "run one again with a change, and compare",
    example: "fork desk --tick 3 --stub 'clock=It is noon.'"
  })
    .addOption(new Option("--tick <n>", "the number of the run").argParser(atLeastOne).makeOptionMandatory())
    .option("--prompt-file <file>", "another system prompt")
    .option("--model <model>", "another model; offline is the built-in stand-in")
    .option("--stub <tool=text>", "what a tool answers; again for another one", gathered, [])
    .addOption(fleetOption())
  does(fork, trunk, async (options, id) => (await import("../commands/agents/replay.ts")).fork(id, options, stop))
}

export const addMinds = (root: Command, trunk: Trunk): void => {
  addMemory(root, trunk)
  addErasing(root, trunk)
  addNights(root, trunk)
  addReminders(root, trunk)
  addPrompts(root, trunk)
  addReplay(root, trunk)
}
