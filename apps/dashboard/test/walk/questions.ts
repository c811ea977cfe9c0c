// Questions: the six questions that an audit asks of the page, each from the overview on, in at most three actions.
// Owns the ways, and reading what is to be seen. Leaves the fleet to the rig, and the verdict to callers.
// A1  An action is a click, a key with those held down, or typing into a field; scrolling would be one too, and is never needed.
// A2  What is not in the window, is cut off or lies behind something is not read.
// A3  The truth is asked of the fleet, never of the page or its answers.

import type { Page } from "playwright-core"
import type { Fleet } from "reverie"
import { count, spentText, tokens } from "../../src/parts/format.ts"
import type { Tab } from "../browser.ts"
import { NAMED, TALK } from "./questions-rig.ts"

export const MOST_ACTIONS = 3

/** Words that are to be read in an element; it may be one of many that the selector finds. */
export interface Sight {
  readonly at: string
  readonly words: string
}

/** A person before the page, whose actions are counted. */
class Person {
  readonly page: Page
  actions = 0
  lastAt = performance.now()

  constructor(page: Page) {
    this.page = page
  }

  async click(selector: string): Promise<void> {
    await this.page.waitForSelector(selector)
    this.#act()
    await this.page.click(selector)
  }

  async press(key: string): Promise<void> {
    this.#act()
    await this.page.keyboard.press(key)
  }

  /** Types where the focus is. */
  async type(words: string): Promise<void> {
    this.#act()
    await this.page.keyboard.type(words)
  }

  /** Goes to an entry of the palette by its name: three actions. */
  async goTo(words: string, entry: string): Promise<void> {
    await this.press("Control+k")
    await this.page.waitForSelector("[data-palette] input:focus")
    await this.type(words)
    await this.page.waitForSelector(`[data-entry='${entry}'][aria-selected=true]`)
    await this.press("Enter")
  }

  #act(): void {
    this.actions += 1
    this.lastAt = performance.now()
  }
}

interface Question {
  readonly asks: string
  readonly go: (person: Person) => Promise<void>
  readonly truth: (fleet: Fleet) => Promise<ReadonlyArray<Sight>>
}

const { asking, busy, halted } = NAMED

/** How many assistants are in a state that begins so, by the records of all. */
export const countIn = async (fleet: Fleet, begins: string): Promise<number> => {
  let found = 0
  let after: string | undefined
  while (true) {
    const records = await fleet.list(after, 1_000)
    found += records.filter(({ state }) => state.status.startsWith(begins)).length
    after = records.at(-1)?.address.assistant
    if (records.length < 1_000) return found
  }
}

const rowOf = (id: string): string => `[data-row][data-assistant="${id}"]`

const doing: Question = {
  asks: "what is this fleet doing now",
  go: (person) => person.click("[data-nav=fleet]"),
  truth: async (fleet) => {
    const counters = {
      idle: "awake.idle",
      thinking: "awake.thinking",
      awaitingApproval: "awake.awaiting",
      halted: "halted"
    }
    const counted = await Promise.all(
      Object.entries(counters).map(async ([counter, state]) => ({
        at: `[data-counter=${counter}]`,
        words: count(await countIn(fleet, state))
      }))
    )
    const total = { at: "[data-counter=total]", words: count(await countIn(fleet, "")) }
    return [total, ...counted, { at: rowOf(busy), words: busy }, { at: `${rowOf(busy)} .chip`, words: "thinking" }]
  }
}

const costing: Question = {
  asks: "what did this assistant cost today",
  go: (person) => person.goTo(busy, `assistant-${busy}`),
  truth: async (fleet) => {
    const { total } = await fleet.usage({ assistant: busy })
    if (total.costMicros === 0) throw new Error("it cost nothing: no figure can be told from none")
    return [{ at: "[data-facts]", words: `${tokens(total.tokens)} tokens, ${spentText(total)}` }]
  }
}

const answering: Question = {
  asks: "why did it answer that",
  go: (person) => person.goTo(busy, `assistant-${busy}`),
  truth: async (fleet) => {
    const { ticks } = await fleet.history.ticks(busy)
    const tick = ticks.find(({ reply }) => reply === TALK.answer)
    if (tick === undefined) throw new Error("it did not answer")
    const [used] = tick.tools
    if (used?.result !== TALK.result) throw new Error(`its tool said: ${used?.result ?? "nothing"}`)
    const said = "[data-messages] [data-role"
    return [
      { at: `${said}=user]`, words: tick.text ?? "nothing" },
      { at: `${said}=assistant] [data-call] summary`, words: `used ${used?.tool ?? "no tool"}` },
      { at: `${said}=assistant] [data-call] summary`, words: used?.result ?? "nothing" },
      { at: `${said}=assistant]`, words: tick.reply ?? "nothing" }
    ]
  }
}

const stuck: Question = {
  asks: "what is stuck",
  go: async () => {},
  truth: async (fleet) => {
    const [letter] = await fleet.deadLetters.list()
    const [asked] = await fleet.approvals.list()
    if (letter === undefined || asked === undefined) throw new Error("nothing is stuck")
    return [
      { at: "[data-banner-item=halted]", words: "1 assistant is halted" },
      { at: "[data-banner-item=dead]", words: "1 dead letter" },
      { at: "[data-banner-item=approvals]", words: "1 assistant waits for an approval" },
      { at: `[data-stuck="${halted}"][data-why=halted]`, words: "the pilot is ill" },
      { at: `[data-stuck="${letter.address.assistant}"][data-why=dead]`, words: letter.reason },
      { at: `[data-approval][data-assistant="${asking}"]`, words: asked.tool }
    ]
  }
}

const dreaming: Question = {
  asks: "what did it dream last night",
  go: (person) => person.goTo(`${busy} dreams`, `page-dreams-${busy}`),
  truth: async (fleet) => {
    const [report] = await fleet.memory.dreams(busy)
    const account = await fleet.memory.dream(busy, report?.id ?? "")
    if (account === undefined || account.learnt.length === 0) throw new Error("it learnt nothing")
    return [
      { at: "[data-headline]", words: account.headline },
      ...account.learnt.map(({ fact, text }) => ({ at: `[data-learnt="${fact}"]`, words: text }))
    ]
  }
}

const seeing: Question = {
  asks: "what did the model see",
  go: (person) => person.goTo(`${busy} context`, `page-context-${busy}`),
  truth: async (fleet) => {
    const report = await fleet.history.contextReport(busy)
    const tick = (await fleet.history.ticks(busy)).ticks.find((each) => each.tick === report?.tick)
    if (report === undefined) throw new Error("its model saw nothing")
    return [
      { at: "[data-figure=estimated]", words: count(report.tokens) },
      ...report.parts.map(({ key, messages, tokens: each }) => ({
        at: `tr[data-part="${key}"]`,
        words: `${key.replaceAll("_", " ")} ${count(messages)} ${count(each)}`
      })),
      // The words of the newest part stand open: here what the tool said.
      { at: "[data-shown]", words: tick?.tools[0]?.result ?? "nothing" }
    ]
  }
}

export const questions: ReadonlyArray<Question> = [doing, costing, answering, stuck, dreaming, seeing]

/** Which of the sights can not be read now: each is in the window, not cut off, and nothing lies over it. */
const unread = (page: Page, sights: ReadonlyArray<Sight>): Promise<ReadonlyArray<string>> =>
  page.evaluate((wanted) => {
    const plain = (words: string): string => words.replaceAll(/\s+/g, " ").trim()
    const isSeen = (element: Element): boolean => {
      const { bottom, height, left, top, width } = element.getBoundingClientRect()
      if (height === 0 || top < 0 || bottom > innerHeight) return false
      const over = document.elementFromPoint(left + width / 2, top + height / 2)
      const isCut = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === "hidden"
      return !isCut && over !== null && (element.contains(over) || over.contains(element))
    }
    return wanted.flatMap(({ at, words }) => {
      const found = [...document.querySelectorAll<HTMLElement>(at)]
      const hit = found.some((each) => isSeen(each) && plain(each.innerText).includes(plain(words)))
      const shown = found.map((each) => `${isSeen(each) ? "" : "(not in view) "}${plain(each.innerText).slice(0, 200)}`)
      return hit ? [] : [`${at}: wanted ${words}; found ${shown.join(" | ") || "nothing"}`]
    })
  }, sights as Array<Sight>)

const LOOK_MILLIS = 10

/** Looks until all of it can be read, or the time is over; says what was not. */
export const read = async (
  page: Page,
  sights: ReadonlyArray<Sight>,
  mostMillis: number
): Promise<ReadonlyArray<string>> => {
  const until = performance.now() + mostMillis
  while (true) {
    const missing = await unread(page, sights)
    if (missing.length === 0 || performance.now() > until) return missing
    await page.waitForTimeout(LOOK_MILLIS)
  }
}

export interface Answered {
  readonly asks: string
  readonly actions: number
  /** From the last action, or from opening the page where there was none, to the answer. */
  readonly millis: number
  readonly missing: ReadonlyArray<string>
}

/** Asks one question, from the overview on. */
export const answerOf = async (
  { asks, go, truth }: Question,
  fleet: Fleet,
  tab: Tab,
  mostMillis: number
): Promise<Answered> => {
  const sights = await truth(fleet)
  const person = new Person(tab.page)
  await tab.open("/", "overview")
  const opened = person.lastAt
  if (asks !== stuck.asks) person.lastAt = performance.now()
  await go(person)
  const missing = await read(tab.page, sights, mostMillis)
  const since = person.actions === 0 ? opened : person.lastAt
  return { asks, actions: person.actions, millis: performance.now() - since, missing }
}
